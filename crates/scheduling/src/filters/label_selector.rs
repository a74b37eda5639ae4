//! `label-selector-filter`: keeps endpoints whose labels match a Kubernetes label selector.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::label_selector::{Expression, LabelSelector};
use crate::{BuildContext, Context, Filter, Invalid, Plugin, Reason, Strength, Verdict};

/// See the module.
#[derive(Clone, Debug)]
pub struct LabelSelectorFilter {
    selector: LabelSelector,
}

/// Parameters of `label-selector-filter`. What is given must hold together.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Params {
    /// A selector as `kubectl -l` takes it, for instance
    /// `llm-d.ai/model-family=qwen,llm-d.ai/serving-role in (decode,both),!spot`.
    #[serde(default)]
    selector: Option<String>,
    /// Labels and their values.
    #[serde(default)]
    match_labels: BTreeMap<String, String>,
    /// Requirements with operators.
    #[serde(default)]
    match_expressions: Vec<Expression>,
}

impl Plugin for LabelSelectorFilter {
    const TYPE: &'static str = "label-selector-filter";
    const SUMMARY: &'static str = "Keeps endpoints whose labels match; when none does the request gets 503.";
    type Params = Params;

    fn build(params: Params, _cx: &BuildContext<'_>) -> Result<Self, Vec<Invalid>> {
        let mut invalid = Vec::new();
        let mut selector = LabelSelector::default();
        if let Some(text) = &params.selector {
            match text.parse::<LabelSelector>() {
                Ok(parsed) => selector = parsed,
                Err(error) => invalid.push(Invalid::new("selector", format!("{text:?}"), error.to_string())),
            }
        }
        for (key, value) in params.match_labels {
            selector.require_equal(key, value);
        }
        for (index, expression) in params.match_expressions.into_iter().enumerate() {
            if let Err(error) = selector.require(expression) {
                invalid.push(Invalid::new(format!("matchExpressions[{index}]"), "", error.to_string()));
            }
        }
        if invalid.is_empty() { Ok(Self { selector }) } else { Err(invalid) }
    }
}

impl Filter for LabelSelectorFilter {
    fn strength(&self) -> Strength {
        Strength::Hard
    }

    fn constraint(&self, _cx: &Context<'_>) -> String {
        format!("with labels {}", self.selector)
    }

    fn judge(&self, cx: &Context<'_>, candidates: &[usize]) -> Vec<Verdict> {
        let judge = |endpoint: &usize| {
            let labels = cx.snapshot.endpoints().get(*endpoint).map(|endpoint| &endpoint.labels);
            match labels.and_then(|labels| self.selector.first_unmet(labels)) {
                None => Verdict::Keep,
                Some(requirement) => Verdict::Drop {
                    reason: Reason::Labels { requirement: requirement.to_string() },
                    excess: None,
                },
            }
        };
        candidates.iter().map(judge).collect()
    }

    fn grounds(&self, cx: &Context<'_>, endpoint: usize) -> String {
        let label = |key: &str| match cx.label(endpoint, key) {
            Some(value) => format!("{key}={value}"),
            None => format!("no {key}"),
        };
        self.selector.keys().map(label).collect::<Vec<_>>().join(", ")
    }
}
