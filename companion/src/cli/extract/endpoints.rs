//! Whose values are looked for.

use std::path::Path;

use serde_json::Value;

use super::expect;
use crate::{
    cli::{Answer, FAULTS, UNREADABLE, documents, finding},
    config,
    discovery::{Member, Source, SourceSpec},
    extract::EngineReading,
    join::GpuSelector,
};

/// An endpoint that values are looked for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Named {
    /// What people call it.
    pub(super) name: String,
    /// How its engine's scrape is read, where it has one.
    pub(super) engine: Option<EngineReading>,
    /// Which GPUs are its own, where that is known.
    pub(super) gpus: Option<GpuSelector>,
}

/// Reads a companion's config, a file of endpoints, or a file of expected values.
pub(super) fn read(path: &Path, text: &str) -> Result<Vec<Named>, Answer> {
    let failed = |words: String| Answer::failed(UNREADABLE, format!("{}: {words}", path.display()));
    let trees = documents::read(text)
        .map_err(|error| Answer::failed(FAULTS, finding::lines(path, &[error]).trim_end().to_owned()))?;
    let [tree] = trees.as_slice() else {
        return Err(failed("must be one document".to_owned()));
    };
    match tree.value.get("endpoints") {
        Some(Value::Object(_)) => Ok(expect::read(path, text)?.endpoints(None)),
        // A file of endpoints is what a pool has.
        Some(Value::Array(_)) => {
            let mut pool = tree.value.clone();
            if let Some(pool) = pool.as_object_mut() {
                pool.entry("name").or_insert_with(|| "endpoints".into());
            }
            named(&serde_json::json!({ "pools": [pool] }).to_string())
        }
        _ if tree.value.get("pools").is_some() => named(text),
        _ => {
            return Err(failed(
                "is neither a companion's config (pools), nor a file of endpoints (endpoints: [...]), nor one of \
                 expected values (endpoints: {...})"
                    .to_owned(),
            ));
        }
    }
    .map_err(failed)
}

fn named(text: &str) -> Result<Vec<Named>, String> {
    let config = config::parse(text).map_err(|errors| errors.to_string())?;
    let sources = config.pools.iter().flat_map(|pool| &pool.sources);
    Ok(sources.flat_map(SourceSpec::known).map(Named::from).collect())
}

impl From<&Member> for Named {
    fn from(member: &Member) -> Self {
        let mut named = Self { name: member.endpoint.name.clone(), engine: None, gpus: None };
        for reading in &member.readings {
            match &reading.source {
                Source::Engine(engine) => named.engine = Some(engine.clone()),
                Source::Models => {}
                Source::Gpus(gpus) => named.gpus = Some(gpus.selector.clone()),
            }
        }
        named
    }
}
