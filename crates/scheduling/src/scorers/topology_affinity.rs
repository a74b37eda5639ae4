//! `topology-affinity-scorer`: how near the endpoint is to the one that an earlier stage of the request
//! chose (llm-d's numbers): same host 1, rack 0.2, zone 0.05, region 0.02, else 0.

use serde::Deserialize;

use crate::{BuildContext, Context, Input, Invalid, Opinion, Plugin, Score, Scorer};

/// See the module.
#[derive(Clone, Debug)]
pub struct TopologyAffinityScorer {
    /// Label, score and words; the nearest first.
    levels: [(String, f64, &'static str); 4],
}

/// Parameters of `topology-affinity-scorer`: the labels that say where an endpoint is.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Params {
    /// Default `kubernetes.io/hostname`.
    #[serde(default = "default_hostname")]
    hostname: String,
    /// Default `topology.kubernetes.io/rack`.
    #[serde(default = "default_rack")]
    rack: String,
    /// Default `topology.kubernetes.io/zone`.
    #[serde(default = "default_zone")]
    zone: String,
    /// Default `topology.kubernetes.io/region`.
    #[serde(default = "default_region")]
    region: String,
}

fn default_hostname() -> String {
    "kubernetes.io/hostname".to_owned()
}

fn default_rack() -> String {
    "topology.kubernetes.io/rack".to_owned()
}

fn default_zone() -> String {
    "topology.kubernetes.io/zone".to_owned()
}

fn default_region() -> String {
    "topology.kubernetes.io/region".to_owned()
}

impl Plugin for TopologyAffinityScorer {
    const TYPE: &'static str = "topology-affinity-scorer";
    const SUMMARY: &'static str =
        "Prefers endpoints near the one that an earlier stage chose, such as prefill near decode.";
    type Params = Params;

    fn build(params: Params, _cx: &BuildContext<'_>) -> Result<Self, Vec<Invalid>> {
        Ok(Self {
            levels: [
                (params.hostname, 1.0, "same host"),
                (params.rack, 0.2, "same rack"),
                (params.zone, 0.05, "same zone"),
                (params.region, 0.02, "same region"),
            ],
        })
    }
}

impl Scorer for TopologyAffinityScorer {
    fn score(&self, cx: &Context<'_>, candidates: &[usize]) -> Vec<Opinion> {
        let score = |&endpoint: &usize| {
            let Some(peer) = cx.peer else {
                return Opinion { score: Score::WORST, input: Input::Said("no earlier stage") };
            };
            let shared = self.levels.iter().find(|(label, ..)| {
                let own = cx.label(endpoint, label);
                own.is_some() && own == cx.label(peer, label)
            });
            let (score, said) = shared.map_or((0.0, "elsewhere"), |(_, score, said)| (*score, *said));
            Opinion { score: Score::new(score), input: Input::Said(said) }
        };
        candidates.iter().map(score).collect()
    }
}
