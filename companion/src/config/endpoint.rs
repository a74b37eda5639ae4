//! One endpoint of a config or of an endpoint file, and what holds for all of a pool.

use std::{sync::Arc, time::Duration};

use headroom_datalayer::Address;

use super::{
    ConfigErrors,
    attributes::{compile_custom, compile_fixed},
    error::quoted,
    gpus::{compile_at, compile_default_gpus, compile_gpus},
    raw,
    reach::{Reach, compile_url},
    timing::Reaches,
};
use crate::{
    discovery::{At, Fetch, Member, Pace, Place, Template},
    extract::{self, EngineReading, EngineTable},
};

/// The namespace of a pod that names none, as in llm-d's endpoint files.
const NAMESPACE: &str = "default";

/// How often model servers are asked for their models: the list changes when an adapter is loaded.
const MODELS: Duration = Duration::from_secs(30);

/// What holds for the endpoints of a pool that do not say otherwise.
#[derive(Clone, Debug)]
pub(crate) struct Defaults {
    /// How an endpoint is read whose place is all that is known.
    pub(crate) template: Template,
    exporter: Reach,
    refresh: Duration,
}

impl Defaults {
    pub(super) fn compile(
        path: &str,
        raw: &raw::Defaults,
        reaches: &Reaches,
        errors: &mut ConfigErrors,
    ) -> Self {
        let engine = raw.engine.as_deref().and_then(|name| engine(&format!("{path}.engine"), name, errors));
        let engine = EngineReading {
            table: engine.flatten(),
            custom: compile_custom(&format!("{path}.custom"), &raw.custom, errors),
            fixed: Arc::new(compile_fixed(&format!("{path}.attributes"), &raw.attributes, errors)),
            names_elsewhere: raw.models.is_some(),
        };
        let Reach { access, pace } = reaches.engine.with(&format!("{path}.scrape"), &raw.scrape, errors);
        let usual = At::Host { scheme: "http", port: None, path: "/metrics".to_owned() };
        let at = compile_at(&format!("{path}.metrics"), &raw.metrics, errors).unwrap_or(usual);
        let gpus = raw
            .gpus
            .as_ref()
            .and_then(|gpus| compile_default_gpus(&format!("{path}.gpus"), gpus, reaches, errors));
        let refresh = gpus.as_ref().map_or(reaches.refresh, |gpus| gpus.refresh);
        let exporter = gpus.as_ref().map_or(reaches.exporter.clone(), |gpus| Reach {
            access: gpus.exporter.access.clone(),
            pace: gpus.exporter.pace,
        });
        let models = raw.models.as_ref().and_then(|models| {
            let usual = Reach { access: access.clone(), pace: Pace { interval: MODELS, ..pace } };
            compile_models(&format!("{path}.models"), models, &usual, errors)
        });
        let template =
            Template { engine, engine_by_label: true, models, metrics: Fetch { at, access, pace }, gpus };
        Self { template, exporter, refresh }
    }

    pub(super) fn engine_interval(&self) -> Duration {
        self.template.metrics.pace.interval
    }

    pub(super) fn exporter_interval(&self) -> Duration {
        self.exporter.pace.interval
    }
}

/// Compiles an endpoint.
pub(crate) fn compile_endpoint(
    path: &str,
    raw: raw::Endpoint,
    defaults: &Defaults,
    errors: &mut ConfigErrors,
) -> Option<Member> {
    let mut template = defaults.template.clone();
    let place = authority(raw.address, raw.port);
    let address: Option<Address> = match place.parse() {
        Ok(address) => Some(address),
        Err(error) => {
            errors.push(&format!("{path}.address"), quoted(&place), error);
            None
        }
    };
    if let Some(name) = &raw.engine {
        template.engine.table = engine(&format!("{path}.engine"), name, errors).flatten();
        template.engine_by_label = false;
    }
    if !raw.attributes.is_empty() {
        let mut fixed = template.engine.fixed.as_ref().clone();
        fixed.extend(compile_fixed(&format!("{path}.attributes"), &raw.attributes, errors));
        template.engine.fixed = Arc::new(fixed);
    }
    let above = Reach { access: template.metrics.access.clone(), pace: template.metrics.pace };
    let Reach { access, pace } = above.with(&format!("{path}.scrape"), &raw.scrape, errors);
    template.metrics.access = access;
    template.metrics.pace = pace;
    if let Some(text) = &raw.metrics
        && let Some(url) = compile_url(&format!("{path}.metrics"), text, errors)
    {
        template.metrics.at = At::Url(url);
    }
    if let Some(gpus) = raw.gpus {
        template.gpus =
            compile_gpus(&format!("{path}.gpus"), gpus, &defaults.exporter, defaults.refresh, errors);
    }
    let address = address?;
    let pod = raw.name.clone().map(|name| (name, raw.namespace.unwrap_or_else(|| NAMESPACE.to_owned())));
    let name = raw.name.unwrap_or_else(|| address.to_string());
    Some(template.member(Place { address, name, labels: raw.labels, pod, exporter_host: None }))
}

fn compile_models(path: &str, raw: &raw::Models, usual: &Reach, errors: &mut ConfigErrors) -> Option<Fetch> {
    let Reach { access, pace } = usual.with(&format!("{path}.scrape"), &raw.scrape, errors);
    let place = raw::At {
        scheme: raw.scheme.clone(),
        port: None,
        path: Some(raw.path.clone().unwrap_or_else(|| "/v1/models".to_owned())),
    };
    Some(Fetch { at: compile_at(path, &place, errors)?, access, pace })
}

/// The engine called `name`: `Some(None)` where the scrape says which, `None` for an unknown one.
fn engine(path: &str, name: &str, errors: &mut ConfigErrors) -> Option<Option<&'static EngineTable>> {
    if name == "auto" {
        return Some(None);
    }
    let table = extract::engine(name);
    if table.is_none() {
        let known: Vec<&str> = extract::ENGINES.iter().map(|table| table.name).collect();
        let reason = format!("is no engine known here; known: auto, {}", known.join(", "));
        errors.push(path, quoted(name), reason);
    }
    table.map(Some)
}

/// `ip:port`, from an IP and the port beside it if that is how it is given.
fn authority(ip: String, port: Option<raw::Port>) -> String {
    let port = match port {
        None => return ip,
        Some(raw::Port::Number(port)) => port.to_string(),
        Some(raw::Port::Text(port)) => port,
    };
    match ip.parse() {
        Ok(std::net::IpAddr::V6(ip)) => format!("[{ip}]:{port}"),
        _ => format!("{ip}:{port}"),
    }
}
