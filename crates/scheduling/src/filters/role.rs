//! `decode-filter`, `prefill-filter` and `encode-filter`: keep endpoints whose role label allows the
//! stage. The roles are llm-d's.

use std::{fmt, marker::PhantomData};

use serde::Deserialize;

use crate::{BuildContext, Context, Filter, Invalid, Plugin, Reason, Strength, Verdict};

/// A stage of serving a request.
pub trait Stage: fmt::Debug + 'static {
    /// The filter's type.
    const TYPE: &'static str;
    /// The filter in a sentence.
    const SUMMARY: &'static str;
    /// Roles that can do it.
    const ROLES: &'static [&'static str];
    /// Whether endpoints without the label can.
    const UNLABELED: bool;
}

/// Generating tokens.
#[derive(Debug)]
pub struct Decode;

impl Stage for Decode {
    const TYPE: &'static str = "decode-filter";
    const SUMMARY: &'static str =
        "Keeps endpoints that decode: role decode, prefill-decode, both, encode-prefill-decode, or none.";
    const ROLES: &'static [&'static str] = &["decode", "prefill-decode", "both", "encode-prefill-decode"];
    const UNLABELED: bool = true;
}

/// Computing the prompt's KV cache.
#[derive(Debug)]
pub struct Prefill;

impl Stage for Prefill {
    const TYPE: &'static str = "prefill-filter";
    const SUMMARY: &'static str = "Keeps endpoints that prefill: role prefill, encode-prefill, prefill-decode, both or encode-prefill-decode.";
    const ROLES: &'static [&'static str] =
        &["prefill", "encode-prefill", "prefill-decode", "both", "encode-prefill-decode"];
    const UNLABELED: bool = false;
}

/// Encoding images, audio and video.
#[derive(Debug)]
pub struct Encode;

impl Stage for Encode {
    const TYPE: &'static str = "encode-filter";
    const SUMMARY: &'static str =
        "Keeps endpoints that encode: role encode, encode-prefill or encode-prefill-decode.";
    const ROLES: &'static [&'static str] = &["encode", "encode-prefill", "encode-prefill-decode"];
    const UNLABELED: bool = false;
}

/// See the module.
#[derive(Clone, Debug)]
pub struct RoleFilter<S> {
    label: String,
    stage: PhantomData<S>,
}

/// Parameters of `decode-filter`, `prefill-filter` and `encode-filter`.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Params {
    /// The label that holds the role. Default `llm-d.ai/role`.
    #[serde(default = "default_label")]
    label: String,
}

fn default_label() -> String {
    "llm-d.ai/role".to_owned()
}

impl<S: Stage> Plugin for RoleFilter<S> {
    const TYPE: &'static str = S::TYPE;
    const SUMMARY: &'static str = S::SUMMARY;
    type Params = Params;

    fn build(params: Params, _cx: &BuildContext<'_>) -> Result<Self, Vec<Invalid>> {
        if params.label.is_empty() {
            return Err(vec![Invalid::new("label", "\"\"", "must name a label")]);
        }
        Ok(Self { label: params.label, stage: PhantomData })
    }
}

impl<S: Stage> RoleFilter<S> {
    fn requirement(&self) -> String {
        let or_none = if S::UNLABELED { ", or none" } else { "" };
        format!("{} in ({}){or_none}", self.label, S::ROLES.join(","))
    }
}

impl<S: Stage> Filter for RoleFilter<S> {
    fn strength(&self) -> Strength {
        Strength::Hard
    }

    fn constraint(&self, _cx: &Context<'_>) -> String {
        format!("with {}", self.requirement())
    }

    fn judge(&self, cx: &Context<'_>, candidates: &[usize]) -> Vec<Verdict> {
        let meets = |endpoint: usize| match cx.label(endpoint, &self.label) {
            Some(role) => S::ROLES.contains(&role),
            None => S::UNLABELED,
        };
        let judge = |&endpoint: &usize| {
            if meets(endpoint) {
                return Verdict::Keep;
            }
            Verdict::Drop { reason: Reason::Labels { requirement: self.requirement() }, excess: None }
        };
        candidates.iter().map(judge).collect()
    }

    fn grounds(&self, cx: &Context<'_>, endpoint: usize) -> String {
        match cx.label(endpoint, &self.label) {
            Some(role) => format!("{}={role}", self.label),
            None => format!("no {}", self.label),
        }
    }
}
