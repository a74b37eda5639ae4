//! `model-filter`: keeps endpoints that serve the requested model or adapter, from what their engines
//! report.

use headroom_datalayer::{Column, SpanText, well_known};
use serde::Deserialize;

use crate::{
    AttributeSource, BuildContext, Context, Filter, Invalid, OnMissing, Plugin, Reason, Strength, Unmeasured,
    Verdict, limit,
};

/// See the module.
#[derive(Clone, Debug)]
pub struct ModelFilter {
    /// Served models first; then what is loaded or waits to be, where adapters show.
    sources: [AttributeSource; 3],
    on_missing: OnMissing,
}

/// Parameters of `model-filter`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Params {
    /// What to do with endpoints whose models are not known. Default `neutral`: they may serve while no
    /// endpoint is known to serve the model.
    #[serde(default = "limit::neutral")]
    on_missing: OnMissing,
    /// What was reported longer ago is missing, for instance `10m`. Default: the pool's, else the
    /// attribute's limit.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    max_age: Option<SpanText>,
}

impl Plugin for ModelFilter {
    const TYPE: &'static str = "model-filter";
    const SUMMARY: &'static str =
        "Keeps endpoints whose engine reports the requested model, as a served model or as an adapter.";
    type Params = Params;

    fn build(params: Params, cx: &BuildContext<'_>) -> Result<Self, Vec<Invalid>> {
        let source = |name| AttributeSource::new(name, params.max_age, cx);
        Ok(Self {
            sources: [well_known::SERVED_MODELS, well_known::ACTIVE_MODELS, well_known::WAITING_MODELS]
                .map(source),
            on_missing: params.on_missing,
        })
    }
}

impl ModelFilter {
    /// Whether the endpoint serves the model.
    ///
    /// # Errors
    /// When its served models are not known, and what is known does not name the model.
    fn serves(
        &self,
        cx: &Context<'_>,
        columns: &[Option<Column>; 3],
        endpoint: usize,
        model: &str,
    ) -> Result<bool, Unmeasured> {
        let names = |(source, column): (&AttributeSource, &Option<Column>)| {
            source.read_names(cx, *column, endpoint).map(|names| names.iter().any(|name| name == model))
        };
        let mut served = Err(Unmeasured::Missing);
        for (index, found) in self.sources.iter().zip(columns).map(names).enumerate() {
            match found {
                Ok(true) => return Ok(true),
                // Adapters that are not loaded just now are in neither list.
                _ if index > 0 => {}
                other => served = other,
            }
        }
        served
    }
}

impl Filter for ModelFilter {
    fn strength(&self) -> Strength {
        Strength::Hard
    }

    fn constraint(&self, cx: &Context<'_>) -> String {
        match &cx.request.model {
            Some(model) => format!("that serves model {model}"),
            None => "that serves any model".to_owned(),
        }
    }

    fn judge(&self, cx: &Context<'_>, candidates: &[usize]) -> Vec<Verdict> {
        let Some(model) = &cx.request.model else {
            return vec![Verdict::Keep; candidates.len()];
        };
        let columns = self.sources.each_ref().map(|source| source.column(cx.snapshot));
        let judge = |&endpoint: &usize| match self.serves(cx, &columns, endpoint, model) {
            Ok(true) => Verdict::Keep,
            Ok(false) => Verdict::Drop { reason: Reason::Model { model: model.clone() }, excess: None },
            Err(why) => limit::missing(self.on_missing, well_known::SERVED_MODELS, why),
        };
        candidates.iter().map(judge).collect()
    }

    fn grounds(&self, cx: &Context<'_>, endpoint: usize) -> String {
        let known = self.sources.iter().enumerate().filter(|(index, source)| {
            *index == 0 || source.read_names(cx, source.column(cx.snapshot), endpoint).is_ok()
        });
        known.map(|(_, source)| source.describe(cx, endpoint)).collect::<Vec<_>>().join(", ")
    }
}
