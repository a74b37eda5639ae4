//! Random configs of a pool, out of every plugin that is registered.

use anyhow::{Context as _, anyhow};
use headroom_filter::config::{Config, PoolSpec};
use headroom_filter::registry::{DECIDERS, Entry, FILTERS, HANDLERS, PICKERS, SCORERS};
use serde_json::{Value, json};

use crate::dice::Dice;
use crate::parameters;

/// A pool's config, and the plugin types in it, as `role:type`.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// An entry of `pools`.
    pub pool: Value,
    /// Sorted, each once.
    pub types: Vec<String>,
}

/// Draws a config in one of its two forms.
///
/// # Errors
/// When a plugin's type has no parameters in [`crate::parameters`].
pub fn random(dice: &mut Dice) -> anyhow::Result<Drawn> {
    let mut types = Vec::new();
    let mut pool = if dice.chance(0.4) { short_form(dice, &mut types)? } else { profiles(dice, &mut types)? };
    if let Some(pool) = pool.as_object_mut() {
        pool.insert("name".to_owned(), json!("pool"));
        pool.insert("explorationProbability".to_owned(), json!(dice.one(&[0.0, 0.02, 0.3, 1.0])));
        if dice.chance(0.3) {
            pool.insert("maxAge".to_owned(), json!({"WaitingQueueSize": "1s", "GPUUtilization": "5s"}));
        }
    }
    types.sort_unstable();
    types.dedup();
    Ok(Drawn { pool, types })
}

/// Compiles the config of one pool.
///
/// # Errors
/// Everything that is wrong with it.
pub fn compile(pool: &Value) -> anyhow::Result<PoolSpec> {
    let text = json!({"feed": {"cluster": "companion"}, "pools": [pool]}).to_string();
    let config = Config::parse(text.as_bytes()).map_err(|faults| {
        let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
        anyhow!("{}\nin {text}", faults.join("\n"))
    })?;
    config.pools.into_iter().next().context("one pool")
}

/// Entries of `count` different plugins of a role.
fn entries<T: ?Sized>(
    dice: &mut Dice,
    role: &str,
    registry: &[Entry<T>],
    count: usize,
    types: &mut Vec<String>,
) -> anyhow::Result<Vec<Value>> {
    let kinds: Vec<&str> = registry.iter().map(|entry| entry.kind).collect();
    let mut entries = Vec::new();
    for kind in dice.some(&kinds, count) {
        types.push(format!("{role}:{kind}"));
        let mut entry = json!({"type": kind, "parameters": parameters::random(dice, kind)?});
        if role == "scorer"
            && dice.chance(0.8)
            && let Some(entry) = entry.as_object_mut()
        {
            let weight = dice.share() * 3.0;
            entry.insert("weight".to_owned(), json!(dice.one(&[0.0, 0.1, 1.0, 2.0, weight])));
        }
        entries.push(entry);
    }
    Ok(entries)
}

fn short_form(dice: &mut Dice, types: &mut Vec<String>) -> anyhow::Result<Value> {
    let (filters, scorers) = (dice.index(5), 1 + dice.index(7));
    let filters = entries(dice, "filter", FILTERS, filters, types)?;
    let scorers = entries(dice, "scorer", SCORERS, scorers, types)?;
    let picker = entries(dice, "picker", PICKERS, 1, types)?;
    Ok(json!({"filters": filters, "scorers": scorers, "picker": picker.first()}))
}

/// The profiles of a disaggregated pool. Their names are what handlers look for by default.
const PROFILES: &[&str] = &["decode", "prefill", "encode"];

/// llm-d's form: plugins, profiles that refer to them, a handler and its deciders.
fn profiles(dice: &mut Dice, types: &mut Vec<String>) -> anyhow::Result<Value> {
    let handler = dice.one(&HANDLERS.iter().map(|entry| entry.kind).collect::<Vec<_>>());
    types.push(format!("handler:{handler}"));
    let names = if handler == "single-profile-handler" { &["default"][..] } else { PROFILES };
    let (mut plugins, mut profiles) = (Vec::new(), Vec::new());
    for name in names {
        let (filters, scorers) = (dice.index(4), 1 + dice.index(5));
        let mut used = entries(dice, "filter", FILTERS, filters, types)?;
        used.extend(entries(dice, "scorer", SCORERS, scorers, types)?);
        used.extend(entries(dice, "picker", PICKERS, 1, types)?);
        let mut references = Vec::new();
        for (at, mut entry) in used.into_iter().enumerate() {
            let plugin = format!("{name}-{at}");
            if let Some(entry) = entry.as_object_mut() {
                // A type that filters and scores is both wherever it stands; its weight is that of a scorer.
                entry.insert("name".to_owned(), json!(plugin));
            }
            references.push(json!({"pluginRef": plugin}));
            plugins.push(entry);
        }
        profiles.push(json!({"name": name, "plugins": references}));
    }
    let mut handler = json!({"type": handler, "parameters": parameters::random(dice, handler)?});
    if let Some(deciders) = handler.pointer_mut("/parameters/deciders") {
        for (stage, decider) in deciders.as_object_mut().into_iter().flatten() {
            let made = entries(dice, "decider", DECIDERS, 1, types)?;
            let mut entry = made.into_iter().next().context("a decider")?;
            if let Some(entry) = entry.as_object_mut() {
                entry.insert("name".to_owned(), json!(format!("{stage}-decider")));
            }
            *decider = json!(format!("{stage}-decider"));
            plugins.push(entry);
        }
    }
    plugins.push(handler);
    Ok(json!({"plugins": plugins, "schedulingProfiles": profiles}))
}
