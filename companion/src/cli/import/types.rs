//! What becomes of llm-d's plugin types.

use crate::cli::spelling::nearest;

/// Older names of types that only changed their name.
const RENAMED: &[(&str, &str)] = &[
    ("by-label-selector", "label-selector-filter"),
    ("kv-cache-scorer", "kv-cache-utilization-scorer"),
    ("precise-prefix-cache-scorer", "prefix-cache-scorer"),
    ("pd-profile-handler", "disagg-profile-handler"),
    ("data-parallel-profile-handler", "single-profile-handler"),
];

/// Today's name of a type.
pub(super) fn current(kind: &str) -> &str {
    RENAMED.iter().find(|(old, _)| *old == kind).map_or(kind, |(_, new)| new)
}

/// A data producer of prefix matches.
const PREFIXES: &str =
    "a data producer: the filter does not follow prefix caches yet, so what reads them finds nothing cached";
/// Any other data producer.
const PRODUCER: &str = "a data producer: the filter gathers itself what its plugins read";
const SOURCE: &str = "part of llm-d's data layer: the companion scrapes, as its own config says";
const EXTRACTOR: &str = "part of llm-d's data layer: the companion extracts, as its own config says";
const DISCOVERY: &str = "part of llm-d's data layer: the companion knows the endpoints from its own config";
const PARSER: &str = "a parser: the filter reads OpenAI-style bodies itself";
const FLOW: &str = "part of llm-d's flow control: there is no queue in front of the pool";
const SATURATION: &str = "a saturation detector: say who is overloaded with a utilization-filter";
const ADMISSION: &str = "an admitter: requests are refused by filters alone";
const HEADERS: &str = "not needed: disagg-profile-handler sets the headers itself";
const SYNC: &str = "keeps replicas of llm-d's in step: workers of one Envoy share what they know anyway";

/// Types that are left out, and why nothing is lost. Types that are not here are looked up among ours, so
/// that a misspelt one is an error.
const LEFT_OUT: &[(&str, &str)] = &[
    ("agent-identity", FLOW),
    ("anthropic-parser", PARSER),
    ("approx-prefix-cache-producer", PREFIXES),
    ("burst-prefix-cache-producer", PREFIXES),
    ("concurrency-detector", SATURATION),
    ("core-metrics-extractor", EXTRACTOR),
    ("cross-replica-publisher", SYNC),
    ("dcgm-data-source", SOURCE),
    ("dcgm-extractor", EXTRACTOR),
    ("disagg-headers-handler", HEADERS),
    ("disaggregatedset-rollout-pod-extractor", EXTRACTOR),
    ("edf-ordering-policy", FLOW),
    ("endpoint-notification-source", DISCOVERY),
    ("fcfs-ordering-policy", FLOW),
    ("file-discovery", DISCOVERY),
    ("global-strict-fairness-policy", FLOW),
    ("inflight-load-producer", PRODUCER),
    ("k8s-notification-source", DISCOVERY),
    ("latency-slo-admitter", ADMISSION),
    ("local-syncer", SYNC),
    ("metrics-data-source", SOURCE),
    ("mm-embeddings-cache-producer", PRODUCER),
    ("models-data-extractor", EXTRACTOR),
    ("models-data-source", SOURCE),
    ("openai-parser", PARSER),
    ("p2p-source-producer", PRODUCER),
    ("passthrough-parser", PARSER),
    ("precise-prefix-cache-producer", PREFIXES),
    ("predicted-latency-producer", PRODUCER),
    ("prefill-header-handler", HEADERS),
    ("priority-holdback-policy", FLOW),
    ("priority-then-time-eviction-order-policy", FLOW),
    ("probabilistic-admitter", ADMISSION),
    ("program-aware-fairness", FLOW),
    ("request-attribute-reporter", "a report to llm-d's logs: every decision here has its record"),
    ("round-robin-fairness-policy", FLOW),
    ("session-id-producer", PRODUCER),
    ("sglanghttp-parser", PARSER),
    ("sheddable-eviction-filter", FLOW),
    ("slo-deadline-ordering-policy", FLOW),
    ("soft-reflective-ceiling-policy", FLOW),
    ("static-usage-limit-policy", FLOW),
    ("token-producer", PRODUCER),
    ("tokenizer", "a data producer: prompts are measured without one"),
    ("topology-extractor", EXTRACTOR),
    ("utilization-detector", SATURATION),
    ("vertexai-parser", PARSER),
    ("vllmgrpc-parser", PARSER),
    ("vllmhttp-parser", PARSER),
];

/// Why plugins of the type are left out; `None` when they are not.
pub(super) fn left_out(kind: &str) -> Option<&'static str> {
    LEFT_OUT.iter().find(|(name, _)| *name == kind).map(|(_, reason)| *reason)
}

/// Types that decide in llm-d and are not here: to leave them out would change who is chosen.
const MISSING: &[(&str, &str)] = &[
    ("disaggregatedset-rollout-screener", "weigh a rollout in Envoy's routes"),
    ("header-based-testing-filter", "it serves llm-d's own tests"),
    ("latency-scorer", "needs llm-d's latency predictor"),
    ("slo-headroom-tier-filter", "needs llm-d's latency predictor"),
    ("topology-affinity-filter", "use the topology-affinity-scorer"),
    ("mm-embeddings-cache-scorer", "multimodal caches are not tracked"),
];

/// Why the config cannot be carried over with a plugin of the type; `None` when it can, or when only the
/// compiler knows.
pub(super) fn refused(kind: &str) -> Option<String> {
    let listed = MISSING.iter().find(|(name, _)| *name == kind).map(|(_, reason)| *reason);
    let several = kind.starts_with("multicluster-").then_some("a pool is one cluster's");
    if let Some(reason) = listed.or(several) {
        return Some(format!("has no counterpart here: {reason}"));
    }
    let ours = || headroom_filter::registry::kinds();
    if ours().any(|known| known == current(kind)) || left_out(kind).is_some() {
        return None;
    }
    let theirs = LEFT_OUT.iter().chain(RENAMED).map(|(name, _)| *name).chain(["by-label"]);
    let meant = nearest(kind, ours().chain(theirs))?;
    Some(format!("unknown type; was {meant} meant?"))
}
