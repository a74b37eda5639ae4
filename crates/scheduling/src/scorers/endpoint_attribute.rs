//! `endpoint-attribute-scorer`: any numeric attribute, placed in a fixed or an adaptive range.

use headroom_datalayer::SpanText;
use serde::Deserialize;
use serde_json::Value as Json;

use super::range::{Direction, Range};
use super::reported::{Reported, default_on_missing};
use crate::{AttributeSource, BuildContext, Context, Invalid, OnMissing, Opinion, Plugin, Scorer};

/// See the module.
#[derive(Clone, Debug)]
pub struct EndpointAttributeScorer(Reported);

/// Parameters of `endpoint-attribute-scorer`.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Params {
    /// Name of the attribute, for instance `GPUUtilization` (a fraction) or
    /// `custom.gpu_utilization_percent`.
    attribute_key: String,
    /// How a value becomes a score.
    algorithm: Scoring,
    /// What endpoints without a fresh value score. Default `worst`.
    #[serde(default = "default_on_missing")]
    on_missing: OnMissing,
    /// A value older than this is missing, for instance `2s`. Default: the pool's, else the
    /// attribute's limit.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    max_age: Option<SpanText>,
}

/// How a value becomes a score.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Scoring {
    /// Which end of the range is good.
    #[serde(rename = "type")]
    kind: Kind,
    /// The range. Default `adaptiveRange`.
    #[serde(default)]
    normalization: Normalization,
}

/// Which end of the range is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
enum Kind {
    /// The smallest value scores highest.
    LinearLowerIsBetter,
    /// The largest value scores highest.
    LinearHigherIsBetter,
}

/// `adaptiveRange` (from the smallest to the largest value among the candidates), written as the word
/// or as `{adaptiveRange: {}}`; or `{fixedRange: {min: 0, max: 100}}`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(try_from = "Json")]
enum Normalization {
    #[default]
    Adaptive,
    Fixed(FixedRange),
}

/// A range with fixed ends; values outside count as at the end.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct FixedRange {
    /// Lower end, in the attribute's unit.
    min: f64,
    /// Upper end, above `min`.
    max: f64,
}

impl TryFrom<Json> for Normalization {
    type Error = String;

    fn try_from(json: Json) -> Result<Self, Self::Error> {
        let expected = || {
            format!(
                "{json} is neither \"adaptiveRange\" nor {{\"fixedRange\": {{\"min\": 0, \"max\": 100}}}}"
            )
        };
        if json == "adaptiveRange" {
            return Ok(Self::Adaptive);
        }
        let entries: Vec<(&String, &Json)> = json.as_object().into_iter().flatten().collect();
        match entries.as_slice() {
            [(key, inner)]
                if *key == "adaptiveRange" && inner.as_object().is_some_and(serde_json::Map::is_empty) =>
            {
                Ok(Self::Adaptive)
            }
            [(key, inner)] if *key == "fixedRange" => serde_json::from_value((*inner).clone())
                .map(Self::Fixed)
                .map_err(|error| format!("fixedRange: {error}")),
            [_, _] => Err("choose one of adaptiveRange and fixedRange, not both".to_owned()),
            _ => Err(expected()),
        }
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Normalization {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Normalization".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let fixed = generator.subschema_for::<FixedRange>();
        schemars::json_schema!({
            "description": "`adaptiveRange`: from the smallest to the largest value among the candidates (also as `{adaptiveRange: {}}`). `{fixedRange: {min, max}}`: fixed ends; values outside count as at the end.",
            "oneOf": [
                {"const": "adaptiveRange"},
                {"type": "object", "properties": {"adaptiveRange": {"type": "object", "additionalProperties": false}}, "required": ["adaptiveRange"], "additionalProperties": false},
                {"type": "object", "properties": {"fixedRange": fixed}, "required": ["fixedRange"], "additionalProperties": false},
            ]
        })
    }
}

impl Plugin for EndpointAttributeScorer {
    const TYPE: &'static str = "endpoint-attribute-scorer";
    const SUMMARY: &'static str =
        "Scores any numeric attribute by where it lies in a fixed or an adaptive range.";
    type Params = Params;

    fn build(params: Params, cx: &BuildContext<'_>) -> Result<Self, Vec<Invalid>> {
        let mut invalid = Vec::new();
        if params.attribute_key.is_empty() {
            invalid.push(Invalid::new("attributeKey", "\"\"", "must name an attribute"));
        }
        let range = match params.algorithm.normalization {
            Normalization::Adaptive => Range::Adaptive,
            Normalization::Fixed(FixedRange { min, max }) => {
                if !(min.is_finite() && max.is_finite() && min < max) {
                    let path = "algorithm.normalization.fixedRange";
                    invalid.push(Invalid::new(path, format!("{min}..{max}"), "min must be below max"));
                }
                Range::Fixed { min, max }
            }
        };
        if !invalid.is_empty() {
            return Err(invalid);
        }
        let source = AttributeSource::new(&params.attribute_key, params.max_age, cx);
        Ok(Self(Reported {
            source,
            on_missing: params.on_missing,
            range,
            direction: match params.algorithm.kind {
                Kind::LinearLowerIsBetter => Direction::LowerIsBetter,
                Kind::LinearHigherIsBetter => Direction::HigherIsBetter,
            },
        }))
    }
}

impl Scorer for EndpointAttributeScorer {
    fn score(&self, cx: &Context<'_>, candidates: &[usize]) -> Vec<Opinion> {
        self.0.score(cx, candidates)
    }
}
