//! `header-label-affinity-scorer`: 1 where a label's value is the value of a request header, else 0.

use serde::Deserialize;

use crate::{BuildContext, Context, Input, Invalid, Opinion, Plugin, Score, Scorer};

/// See the module.
#[derive(Clone, Debug)]
pub struct HeaderLabelAffinityScorer {
    header: String,
    label: String,
}

/// Parameters of `header-label-affinity-scorer`.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Params {
    /// The request header; any case.
    header_name: String,
    /// The endpoint's label.
    label_key: String,
}

impl Plugin for HeaderLabelAffinityScorer {
    const TYPE: &'static str = "header-label-affinity-scorer";
    const SUMMARY: &'static str = "Prefers endpoints whose label has the value of a request header.";
    type Params = Params;

    fn build(params: Params, _cx: &BuildContext<'_>) -> Result<Self, Vec<Invalid>> {
        let mut invalid = Vec::new();
        for (path, value) in [("headerName", &params.header_name), ("labelKey", &params.label_key)] {
            if value.trim().is_empty() {
                invalid.push(Invalid::new(path, format!("{value:?}"), "must not be empty"));
            }
        }
        let header = params.header_name.trim().to_ascii_lowercase();
        if invalid.is_empty() { Ok(Self { header, label: params.label_key }) } else { Err(invalid) }
    }
}

impl Scorer for HeaderLabelAffinityScorer {
    fn score(&self, cx: &Context<'_>, candidates: &[usize]) -> Vec<Opinion> {
        let wanted = cx.request.header(&self.header);
        let score = |&endpoint: &usize| match (wanted, cx.label(endpoint, &self.label)) {
            (None, _) => Opinion { score: Score::WORST, input: Input::Said("no header") },
            (Some(wanted), Some(label)) if wanted == label => {
                Opinion { score: Score::BEST, input: Input::Said("the label matches") }
            }
            _ => Opinion { score: Score::WORST, input: Input::Said("the label differs") },
        };
        candidates.iter().map(score).collect()
    }

    fn headers(&self) -> Vec<String> {
        vec![self.header.clone()]
    }
}
