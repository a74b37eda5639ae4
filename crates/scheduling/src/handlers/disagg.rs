//! `disagg-profile-handler`: the decode profile, and where its deciders say so a profile of its own for
//! the prompt (prefill) and for images, audio and video (encode).
//!
//! The request goes to the decode endpoint; the others are named in `x-prefiller-host-port` and
//! `x-encoder-hosts-ports`. A stage that finds nobody is left out: the decode endpoint then does its work.

use std::rc::Rc;

use serde::Deserialize;

use crate::{BuildContext, Context, Decider, Invalid, Plugin, ProfileHandler, Run, StageHeader};

/// See the module.
#[derive(Clone, Debug)]
pub struct DisaggProfileHandler {
    prefill_first: bool,
    decode: usize,
    prefill: Option<(usize, Option<Rc<dyn Decider>>)>,
    encode: Option<(usize, Rc<dyn Decider>)>,
}

/// Parameters of `disagg-profile-handler`.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Params {
    /// Which stage chooses first; later ones can be placed near it.
    #[serde(default)]
    stage_order: StageOrder,
    /// The names of the stages' profiles.
    #[serde(default)]
    profiles: Profiles,
    /// The names of the plugins that say whether a stage of its own is worth it. A stage without one does
    /// not run.
    #[serde(default)]
    deciders: Deciders,
}

/// Which stage chooses first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
enum StageOrder {
    /// Decode, encode, prefill.
    #[default]
    #[serde(rename = "decode-first", alias = "DecodeFirst")]
    DecodeFirst,
    /// Prefill (always, without a decider), encode, decode.
    #[serde(rename = "prefill-first", alias = "PrefillFirst")]
    PrefillFirst,
}

/// The names of the stages' profiles.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Profiles {
    /// Default `decode`.
    decode: String,
    /// Default `prefill`.
    prefill: String,
    /// Default `encode`.
    encode: String,
}

impl Default for Profiles {
    fn default() -> Self {
        Self { decode: "decode".to_owned(), prefill: "prefill".to_owned(), encode: "encode".to_owned() }
    }
}

/// The names of the deciders.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Deciders {
    /// Of the prefill stage.
    prefill: Option<String>,
    /// Of the encode stage.
    encode: Option<String>,
}

/// Names the prefill endpoint to the decode endpoint.
pub(crate) const PREFILLER: &str = "x-prefiller-host-port";
/// Names the encode endpoints to the decode endpoint.
pub(crate) const ENCODERS: &str = "x-encoder-hosts-ports";

impl Plugin for DisaggProfileHandler {
    const TYPE: &'static str = "disagg-profile-handler";
    const SUMMARY: &'static str =
        "Places decode, and where its deciders say so prefill and encode, on endpoints of their own.";
    type Params = Params;

    fn build(params: Params, cx: &BuildContext<'_>) -> Result<Self, Vec<Invalid>> {
        let mut invalid = Vec::new();
        let mut profile =
            |name: &str, path: &str| super::profile(name, path, cx).map_err(|fault| invalid.push(fault)).ok();
        let prefill_first = params.stage_order == StageOrder::PrefillFirst;
        let Profiles { decode, prefill, encode } = &params.profiles;
        let decode = profile(decode, "profiles.decode");
        let wants_prefill = prefill_first || params.deciders.prefill.is_some();
        let prefill = if wants_prefill { profile(prefill, "profiles.prefill") } else { None };
        let encode = params.deciders.encode.is_some().then(|| profile(encode, "profiles.encode")).flatten();
        let mut decider = |name: &Option<String>, path: &str| {
            let name = name.as_ref()?;
            let found = cx.deciders.get(name).cloned();
            if found.is_none() {
                let known: Vec<&str> = cx.deciders.keys().map(String::as_str).collect();
                let reason = format!("is not the name of a decider among the plugins; there are {known:?}");
                invalid.push(Invalid::new(path, format!("{name:?}"), reason));
            }
            found
        };
        let prefill_decider = decider(&params.deciders.prefill, "deciders.prefill");
        let encode_decider = decider(&params.deciders.encode, "deciders.encode");
        if prefill_first && let Some(name) = &params.deciders.prefill {
            let reason =
                "with prefill-first the prefill stage always runs, before anything is known to decide by";
            invalid.push(Invalid::new("deciders.prefill", format!("{name:?}"), reason));
        }
        match decode {
            Some(decode) if invalid.is_empty() => Ok(Self {
                prefill_first,
                decode,
                prefill: prefill.map(|profile| (profile, prefill_decider)),
                encode: encode.zip(encode_decider),
            }),
            _ => Err(invalid),
        }
    }
}

impl DisaggProfileHandler {
    fn run_of(runs: &[Run], profile: usize) -> Option<(usize, &Run)> {
        runs.iter().enumerate().find(|(_, run)| run.profile == profile)
    }
}

impl ProfileHandler for DisaggProfileHandler {
    fn next(&self, cx: &Context<'_>, runs: &[Run]) -> Option<usize> {
        let ran = |profile: usize| Self::run_of(runs, profile).is_some();
        let first = runs.first().and_then(Run::choice);
        let prefill = self.prefill.as_ref().filter(|(profile, _)| !ran(*profile));
        let encode = || {
            let (profile, decider) = self.encode.as_ref().filter(|(profile, _)| !ran(*profile))?;
            decider.wanted(cx, first?).then_some(*profile)
        };
        if self.prefill_first {
            let prefill = prefill.filter(|_| runs.is_empty()).map(|(profile, _)| *profile);
            // What was decided before decode ran is not asked again after it.
            let decoded = ran(self.decode);
            return prefill
                .or_else(|| if decoded { None } else { encode() })
                .or_else(|| (!decoded).then_some(self.decode));
        }
        if runs.is_empty() {
            return Some(self.decode);
        }
        encode().or_else(|| {
            let (profile, decider) = prefill?;
            decider.as_ref()?.wanted(cx, first?).then_some(*profile)
        })
    }

    fn primary(&self, runs: &[Run]) -> Option<usize> {
        Self::run_of(runs, self.decode).map(|(index, _)| index)
    }

    fn stage_headers(&self, runs: &[Run]) -> Vec<StageHeader> {
        let mut headers = Vec::new();
        let mut add = |profile: Option<usize>, name: &'static str, all: bool| {
            if let Some((run, _)) = profile.and_then(|profile| Self::run_of(runs, profile)) {
                headers.push(StageHeader { name, run, all });
            }
        };
        add(self.prefill.as_ref().map(|(profile, _)| *profile), PREFILLER, false);
        add(self.encode.as_ref().map(|(profile, _)| *profile), ENCODERS, true);
        headers
    }
}
