//! `context-length-aware`: a filter and a scorer by the range of prompt lengths that an endpoint's label
//! says it is for. Formula and defaults are llm-d's.
//!
//! In the range: 0.3 + 0.7 × (0.7 ÷ (1 + width ÷ 10000) + 0.3 × (max − tokens) ÷ width), 1 for a width of
//! 0; outside: 0.3 ÷ (1 + distance ÷ 1000); no label: 0.5; a label that is not a range: 0.

use serde::Deserialize;

use crate::{
    BuildContext, Context, Filter, Input, Invalid, Opinion, Plugin, Reason, Score, Scorer, Strength, Verdict,
};

/// See the module.
#[derive(Clone, Debug)]
pub struct ContextLengthAware {
    label: String,
    enable_filtering: bool,
}

/// Parameters of `context-length-aware`.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Params {
    /// The label with the range of prompt tokens, as in `0-8192`. Default
    /// `llm-d.ai/context-length-range`.
    #[serde(default = "default_label")]
    label: String,
    /// Whether endpoints outside whose range the prompt is may not serve; else they only score lower.
    /// Default false.
    #[serde(default)]
    enable_filtering: bool,
}

fn default_label() -> String {
    "llm-d.ai/context-length-range".to_owned()
}

impl Plugin for ContextLengthAware {
    const TYPE: &'static str = "context-length-aware";
    const SUMMARY: &'static str =
        "Prefers, or with `enableFiltering` demands, endpoints whose label's range of prompt lengths fits.";
    type Params = Params;

    fn build(params: Params, _cx: &BuildContext<'_>) -> Result<Self, Vec<Invalid>> {
        if params.label.is_empty() {
            return Err(vec![Invalid::new("label", "\"\"", "must name a label")]);
        }
        Ok(Self { label: params.label, enable_filtering: params.enable_filtering })
    }
}

/// Prompt lengths from `min` to `max`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lengths {
    min: u64,
    max: u64,
}

impl Lengths {
    fn parse(text: &str) -> Option<Self> {
        let (min, max) = text.split_once('-')?;
        let (min, max) = (min.trim().parse().ok()?, max.trim().parse().ok()?);
        (min <= max).then_some(Self { min, max })
    }

    fn holds(self, tokens: u64) -> bool {
        (self.min..=self.max).contains(&tokens)
    }

    #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^53")]
    fn score(self, tokens: u64) -> f64 {
        if self.holds(tokens) {
            let width = (self.max - self.min) as f64;
            if self.max == self.min {
                return 1.0;
            }
            let room = (self.max - tokens) as f64 / width;
            0.3 + 0.7 * (0.7 / (1.0 + width / 10_000.0) + 0.3 * room)
        } else {
            let distance =
                if tokens < self.min { self.min - tokens } else { tokens.saturating_sub(self.max) };
            0.3 / (1.0 + distance as f64 / 1_000.0)
        }
    }
}

impl ContextLengthAware {
    /// The endpoint's range: `None` without the label, `Some(None)` for one that is not a range.
    fn range(&self, cx: &Context<'_>, endpoint: usize) -> Option<Option<Lengths>> {
        cx.label(endpoint, &self.label).map(Lengths::parse)
    }
}

/// A prompt that is not known has no tokens.
fn tokens(cx: &Context<'_>) -> u64 {
    cx.request.input_tokens.unwrap_or(0)
}

impl Filter for ContextLengthAware {
    fn strength(&self) -> Strength {
        Strength::Hard
    }

    fn constraint(&self, cx: &Context<'_>) -> String {
        format!("with a {} that holds {} tokens", self.label, tokens(cx))
    }

    fn judge(&self, cx: &Context<'_>, candidates: &[usize]) -> Vec<Verdict> {
        let judge = |&endpoint: &usize| match self.range(cx, endpoint) {
            _ if !self.enable_filtering => Verdict::Keep,
            None => Verdict::Keep,
            Some(Some(range)) if range.holds(tokens(cx)) => Verdict::Keep,
            Some(_) => {
                let requirement = format!("{} that holds {} tokens", self.label, tokens(cx));
                Verdict::Drop { reason: Reason::Labels { requirement }, excess: None }
            }
        };
        candidates.iter().map(judge).collect()
    }

    fn grounds(&self, cx: &Context<'_>, endpoint: usize) -> String {
        match cx.label(endpoint, &self.label) {
            Some(range) => format!("{}={range}", self.label),
            None => format!("no {}", self.label),
        }
    }
}

impl Scorer for ContextLengthAware {
    fn score(&self, cx: &Context<'_>, candidates: &[usize]) -> Vec<Opinion> {
        let score = |&endpoint: &usize| {
            let (score, said) = match self.range(cx, endpoint) {
                None => (0.5, "no label"),
                Some(None) => (0.0, "its label is not a range"),
                Some(Some(range)) if range.holds(tokens(cx)) => (range.score(tokens(cx)), "in its range"),
                Some(Some(range)) => (range.score(tokens(cx)), "out of its range"),
            };
            Opinion { score: Score::new(score), input: Input::Said(said) }
        };
        candidates.iter().map(score).collect()
    }
}

#[cfg(test)]
mod tests;
