//! What becomes of llm-d's plugin types.

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

/// Types that are left out, by the end of their name, and why nothing is lost.
const LEFT_OUT: &[(&str, &str)] = &[
    (
        "-prefix-cache-producer",
        "a data producer: the filter does not follow prefix caches yet, so what reads them finds nothing cached",
    ),
    ("-producer", "a data producer: the filter gathers itself what its plugins read"),
    ("tokenizer", "a data producer: prompts are measured without one"),
    ("-data-source", "part of llm-d's data layer: the companion scrapes, as its own config says"),
    ("-notification-source", "part of llm-d's data layer: the companion knows the endpoints"),
    ("-extractor", "part of llm-d's data layer: the companion extracts, as its own config says"),
    ("-discovery", "part of llm-d's data layer: the companion's config lists the endpoints"),
    ("-parser", "a parser: the filter reads OpenAI-style bodies itself"),
    ("-policy", "part of llm-d's flow control: there is no queue in front of the pool"),
    ("-detector", "a saturation detector: say who is overloaded with a utilization-filter"),
    ("-admitter", "an admitter: requests are refused by filters alone"),
    ("-screener", "a screener: endpoints are left out by filters alone"),
    ("-eviction-filter", "part of llm-d's flow control: there is no queue in front of the pool"),
    ("disagg-headers-handler", "not needed: disagg-profile-handler sets the headers itself"),
    ("prefill-header-handler", "not needed: disagg-profile-handler sets the headers itself"),
    ("agent-identity", "part of llm-d's flow control: there is no queue in front of the pool"),
];

/// Why plugins of the type are left out; `None` when they are not.
pub(super) fn left_out(kind: &str) -> Option<&'static str> {
    LEFT_OUT.iter().find(|(end, _)| kind.ends_with(end)).map(|(_, reason)| *reason)
}

/// Types that decide in llm-d and are not here: to leave them out would change who is chosen.
const MISSING: &[(&str, &str)] = &[
    ("latency-scorer", "needs llm-d's latency predictor"),
    ("slo-headroom-tier-filter", "needs llm-d's latency predictor"),
    ("topology-affinity-filter", "use the topology-affinity-scorer"),
    ("mm-embeddings-cache-scorer", "multimodal caches are not tracked"),
];

/// What to say of a type that cannot be carried over; `None` for all others.
pub(super) fn missing(kind: &str) -> Option<String> {
    let listed = MISSING.iter().find(|(name, _)| *name == kind).map(|(_, reason)| *reason);
    let several = kind.starts_with("multicluster-").then_some("a pool is one cluster's");
    listed.or(several).map(|reason| format!("has no counterpart here: {reason}"))
}
