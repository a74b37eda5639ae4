//! `single-profile-handler`: the pool's only profile runs.

use serde::Deserialize;

use crate::{BuildContext, Context, Invalid, Plugin, ProfileHandler, Run};

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
pub struct SingleProfileHandler;

/// `single-profile-handler` has no parameters.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Plugin for SingleProfileHandler {
    const TYPE: &'static str = "single-profile-handler";
    const SUMMARY: &'static str = "Runs the pool's only profile.";
    type Params = Params;

    fn build(_params: Params, cx: &BuildContext<'_>) -> Result<Self, Vec<Invalid>> {
        if cx.profiles.len() > 1 {
            let reason = format!(
                "takes one profile and there are {}; use header-profile-handler or disagg-profile-handler",
                cx.profiles.join(", ")
            );
            return Err(vec![Invalid::new("", Self::TYPE, reason)]);
        }
        Ok(Self)
    }
}

impl ProfileHandler for SingleProfileHandler {
    fn next(&self, _cx: &Context<'_>, runs: &[Run]) -> Option<usize> {
        runs.is_empty().then_some(0)
    }

    fn primary(&self, runs: &[Run]) -> Option<usize> {
        (!runs.is_empty()).then_some(0)
    }
}
