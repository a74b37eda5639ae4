//! `always-disagg-pd-decider` and `always-disagg-multimodal-decider`.

use serde::Deserialize;

use crate::{BuildContext, Context, Decider, Invalid, Plugin};

/// Neither decider has parameters.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Params {}

/// Every request has a prefill stage of its own.
#[derive(Clone, Copy, Debug)]
pub struct AlwaysDisaggPdDecider;

impl Plugin for AlwaysDisaggPdDecider {
    const TYPE: &'static str = "always-disagg-pd-decider";
    const SUMMARY: &'static str = "Every request has a prefill stage of its own.";
    type Params = Params;

    fn build(_params: Params, _cx: &BuildContext<'_>) -> Result<Self, Vec<Invalid>> {
        Ok(Self)
    }
}

impl Decider for AlwaysDisaggPdDecider {
    fn wanted(&self, _cx: &Context<'_>, _endpoint: usize) -> bool {
        true
    }
}

/// Every request with images, audio or video has an encode stage of its own.
#[derive(Clone, Copy, Debug)]
pub struct AlwaysDisaggMultimodalDecider;

impl Plugin for AlwaysDisaggMultimodalDecider {
    const TYPE: &'static str = "always-disagg-multimodal-decider";
    const SUMMARY: &'static str = "Every request with images, audio or video has an encode stage of its own.";
    type Params = Params;

    fn build(_params: Params, _cx: &BuildContext<'_>) -> Result<Self, Vec<Invalid>> {
        Ok(Self)
    }
}

impl Decider for AlwaysDisaggMultimodalDecider {
    fn wanted(&self, cx: &Context<'_>, _endpoint: usize) -> bool {
        cx.request.multimodal
    }
}
