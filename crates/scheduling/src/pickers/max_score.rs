//! `max-score-picker`: the highest total wins, ties at random.

use serde::Deserialize;

use crate::{BuildContext, Candidate, Context, Invalid, Picker, Plugin};

/// See the module.
#[derive(Clone, Debug)]
pub struct MaxScorePicker {
    max_endpoints: usize,
}

/// Parameters of `max-score-picker`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Params {
    /// Length of the destination list: the choice and where to retry, in order. At least 1 more than
    /// the route's number of retries, so that no attempt leaves the list. 1 to 16, default 4.
    #[serde(default = "default_max_endpoints")]
    max_num_of_endpoints: usize,
}

const fn default_max_endpoints() -> usize {
    4
}

impl Default for MaxScorePicker {
    fn default() -> Self {
        Self { max_endpoints: default_max_endpoints() }
    }
}

impl Plugin for MaxScorePicker {
    const TYPE: &'static str = "max-score-picker";
    const SUMMARY: &'static str =
        "Takes the endpoint with the highest total; equal totals are decided at random.";
    type Params = Params;

    fn build(params: Params, _cx: &BuildContext<'_>) -> Result<Self, Vec<Invalid>> {
        let max_endpoints = params.max_num_of_endpoints;
        if !(1..=16).contains(&max_endpoints) {
            return Err(vec![Invalid::new("maxNumOfEndpoints", max_endpoints, "must be between 1 and 16")]);
        }
        Ok(Self { max_endpoints })
    }
}

impl Picker for MaxScorePicker {
    fn max_endpoints(&self) -> usize {
        self.max_endpoints
    }

    fn pick(&self, cx: &Context<'_>, candidates: &[Candidate], rng: &mut fastrand::Rng) -> Vec<usize> {
        let seed = rng.u64(..);
        // Random from decision to decision, and a function of the endpoint's address within one:
        // the order in which the candidates come never decides.
        let lot = |endpoint: usize| mix(cx.snapshot.fingerprint(endpoint) ^ seed);
        let mut order: Vec<(f64, u64, usize)> =
            candidates.iter().map(|c| (c.total, lot(c.endpoint), c.endpoint)).collect();
        let best_first =
            |a: &(f64, u64, usize), b: &(f64, u64, usize)| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1));
        if order.len() > self.max_endpoints {
            order.select_nth_unstable_by(self.max_endpoints - 1, best_first);
            order.truncate(self.max_endpoints);
        }
        order.sort_unstable_by(best_first);
        order.into_iter().map(|(.., endpoint)| endpoint).collect()
    }
}

/// The finalizer of MurmurHash3: every bit of the input reaches every bit of the output.
const fn mix(mut bits: u64) -> u64 {
    bits ^= bits >> 33;
    bits = bits.wrapping_mul(0xff51_afd7_ed55_8ccd);
    bits ^= bits >> 33;
    bits = bits.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    bits ^ (bits >> 33)
}
