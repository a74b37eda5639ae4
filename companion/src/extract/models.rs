//! The models that a server lists: OpenAI's `GET /v1/models`, to which vLLM and SGLang add `max_model_len`.

use std::{borrow::Cow, collections::BTreeSet};

use headroom_datalayer::{Sample, Timestamp, Value, well_known};
use serde::Deserialize;

use super::{Facts, MAX_NAMES};

#[derive(Deserialize)]
struct List {
    data: Vec<Model>,
}

#[derive(Deserialize)]
struct Model {
    id: String,
    /// The longest context in tokens.
    #[serde(default)]
    max_model_len: Option<f64>,
    /// Of an adapter, the model that it adapts.
    #[serde(default)]
    parent: Option<String>,
}

/// Reads a list that was asked for at `sent_at`: the names, and the shortest of the models' longest contexts.
///
/// # Errors
/// When the text is no list of models.
pub(crate) fn extract_models(text: &str, sent_at: Timestamp) -> Result<Facts, String> {
    let List { data } = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let mut facts = Facts::new();
    let lengths = data.iter().filter(|model| model.parent.is_none()).filter_map(|model| model.max_model_len);
    let shortest = lengths.filter(|tokens| tokens.is_finite() && *tokens > 0.0).reduce(f64::min);
    if let Some(value) = shortest.and_then(Value::number) {
        facts.insert(Cow::Borrowed(well_known::MAX_MODEL_LEN), Sample { value, measured_at: sent_at });
    }
    let names: BTreeSet<String> =
        data.into_iter().map(|model| model.id).filter(|id| !id.is_empty()).take(MAX_NAMES).collect();
    if !names.is_empty() {
        let value = Value::Names(names.into_iter().collect());
        facts.insert(Cow::Borrowed(well_known::SERVED_MODELS), Sample { value, measured_at: sent_at });
    }
    Ok(facts)
}
