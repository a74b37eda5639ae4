//! `lora-affinity-scorer`: where the requested adapter is loaded, or can be (llm-d's numbers).
//!
//! Loaded: 1; room for one more: 0.8; waiting to be loaded: 0.6; else 0.

use headroom_datalayer::{SpanText, well_known};
use serde::Deserialize;

use super::reported::default_on_missing;
use crate::{
    AttributeSource, BuildContext, Context, Input, Invalid, OnMissing, Opinion, Plugin, Score, Scorer,
    Unmeasured, scorer,
};

/// See the module.
#[derive(Clone, Debug)]
pub struct LoraAffinityScorer {
    active: AttributeSource,
    waiting: AttributeSource,
    max_active: AttributeSource,
    on_missing: OnMissing,
}

/// Parameters of `lora-affinity-scorer`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Params {
    /// What endpoints without a fresh value score. Default `worst`.
    #[serde(default = "default_on_missing")]
    on_missing: OnMissing,
    /// What was reported longer ago is missing, for instance `2s`. Default: the pool's, else the
    /// attribute's limit.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    max_age: Option<SpanText>,
}

impl Plugin for LoraAffinityScorer {
    const TYPE: &'static str = "lora-affinity-scorer";
    const SUMMARY: &'static str =
        "Best where the requested adapter is loaded, then where there is room for it, then where it waits.";
    type Params = Params;

    fn build(params: Params, cx: &BuildContext<'_>) -> Result<Self, Vec<Invalid>> {
        let source = |name| AttributeSource::new(name, params.max_age, cx);
        Ok(Self {
            active: source(well_known::ACTIVE_MODELS),
            waiting: source(well_known::WAITING_MODELS),
            max_active: source(well_known::MAX_ACTIVE_MODELS),
            on_missing: params.on_missing,
        })
    }
}

impl Scorer for LoraAffinityScorer {
    #[expect(clippy::cast_precision_loss, reason = "an engine has a handful of adapters")]
    fn score(&self, cx: &Context<'_>, candidates: &[usize]) -> Vec<Opinion> {
        let Some(model) = &cx.request.model else {
            let input = Input::Said("the request names no model");
            return vec![Opinion { score: Score::WORST, input }; candidates.len()];
        };
        let columns = [&self.active, &self.waiting, &self.max_active].map(|s| s.column(cx.snapshot));
        let [active_at, waiting_at, max_at] = columns;
        let place = |endpoint: usize| -> Result<(f64, &'static str), Unmeasured> {
            let active = self.active.read_names(cx, active_at, endpoint)?;
            if active.contains(model) {
                return Ok((1.0, "loaded"));
            }
            // Not knowing who waits must not look like room: an engine in which nobody waits says so.
            let waiting = self.waiting.read_names(cx, waiting_at, endpoint)?;
            let max = self.max_active.read(cx, max_at, endpoint)?.value;
            Ok(if ((active.len() + waiting.len()) as f64) < max {
                (0.8, "room for it")
            } else if waiting.contains(model) {
                (0.6, "waiting to be loaded")
            } else {
                (0.0, "no room for it")
            })
        };
        let opinion = |&endpoint: &usize| match place(endpoint) {
            Ok((score, said)) => (Some(Score::new(score)), Input::Said(said)),
            Err(why) => (None, Input::Unmeasured(why)),
        };
        scorer::complete(candidates.iter().map(opinion).collect(), self.on_missing)
    }
}
