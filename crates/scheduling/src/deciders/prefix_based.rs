//! `prefix-based-pd-decider`: a prefill stage where enough of the prompt is not in the decode endpoint's
//! prefix cache (llm-d's rule).

use serde::Deserialize;

use crate::{BuildContext, Context, Decider, Invalid, Plugin, PrefixMatch};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct PrefixBasedPdDecider {
    params: Params,
}

/// Parameters of `prefix-based-pd-decider`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Params {
    /// Tokens that are not cached from which a prefill stage is worth it; 0 never has one. Default 0.
    #[serde(default)]
    non_cached_tokens: u64,
    /// Shorter prompts never have one. Default 0.
    #[serde(default)]
    prompt_tokens: u64,
}

impl Plugin for PrefixBasedPdDecider {
    const TYPE: &'static str = "prefix-based-pd-decider";
    const SUMMARY: &'static str = "A request has a prefill stage of its own where enough of its prompt is not cached on the decode endpoint.";
    type Params = Params;

    fn build(params: Params, _cx: &BuildContext<'_>) -> Result<Self, Vec<Invalid>> {
        Ok(Self { params })
    }
}

impl Decider for PrefixBasedPdDecider {
    fn wanted(&self, cx: &Context<'_>, endpoint: usize) -> bool {
        let Params { non_cached_tokens, prompt_tokens } = self.params;
        let input = cx.request.input_tokens.unwrap_or(0);
        // A cache that nothing is known of is not counted on.
        let cached = cx.local.prefix.matched(endpoint).as_ref().map_or(0, PrefixMatch::tokens);
        let uncached = input.saturating_sub(cached);
        non_cached_tokens > 0 && input >= prompt_tokens && uncached >= non_cached_tokens
    }
}
