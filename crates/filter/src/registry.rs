//! Every plugin by its type name. Adding one is a file in `headroom-scheduling` and a line here.

use headroom_scheduling::{
    BuildContext, ContextLengthAware, Decider, Filter, Invalid, Picker, Plugin, ProfileHandler, Scorer,
    deciders, filters, handlers, pickers, scorers,
};
use serde_json::Value;

use crate::config::read;

/// Makes a plugin from its parameters.
type Build<T> = fn(Value, &BuildContext<'_>) -> Result<Box<T>, Vec<Invalid>>;

/// One line of the registry.
pub struct Entry<T: ?Sized> {
    /// The name in configs.
    pub kind: &'static str,
    /// One sentence for the reference.
    pub summary: &'static str,
    /// Makes it.
    pub build: Build<T>,
    /// Describes its parameters.
    #[cfg(feature = "schema")]
    pub schema: fn(&mut schemars::SchemaGenerator) -> schemars::Schema,
}

impl<T: ?Sized> std::fmt::Debug for Entry<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Entry").field("kind", &self.kind).finish_non_exhaustive()
    }
}

macro_rules! registry {
    ($(#[$doc:meta])* $name:ident: $role:ident = $($plugin:ty),* $(,)?) => {
        $(#[$doc])*
        pub const $name: &[Entry<dyn $role>] = &[$(Entry {
            kind: <$plugin>::TYPE,
            summary: <$plugin>::SUMMARY,
            build: |parameters, cx| {
                let params = read(parameters)?;
                Ok(Box::new(<$plugin>::build(params, cx)?))
            },
            #[cfg(feature = "schema")]
            schema: |generator| generator.subschema_for::<<$plugin as Plugin>::Params>(),
        }),*];
    };
}

registry! {
    /// Say who may or should serve.
    FILTERS: Filter =
        ContextLengthAware,
        filters::RoleFilter<filters::Decode>,
        filters::RoleFilter<filters::Encode>,
        filters::EndpointAttributeFilter,
        filters::GpuUtilizationFilter,
        filters::HealthFilter,
        filters::LabelSelectorFilter,
        filters::MemoryTierFilter,
        filters::ModelFilter,
        filters::RoleFilter<filters::Prefill>,
        filters::PrefixCacheAffinityFilter,
        filters::SessionAffinityFilter,
        filters::UtilizationFilter,
}

registry! {
    /// Say how good each endpoint is.
    SCORERS: Scorer =
        scorers::ActiveRequestScorer,
        ContextLengthAware,
        scorers::EndpointAttributeScorer,
        scorers::HeaderLabelAffinityScorer,
        scorers::KvCacheUtilizationScorer,
        scorers::LoadAwareScorer,
        scorers::LoraAffinityScorer,
        scorers::NoHitLruScorer,
        scorers::PrefixCacheScorer,
        scorers::QueueScorer,
        scorers::RunningRequestsSizeScorer,
        scorers::SessionAffinityScorer,
        scorers::TokenLoadScorer,
        scorers::TopologyAffinityScorer,
}

registry! {
    /// Put the scored endpoints in order.
    PICKERS: Picker =
        pickers::MaxScorePicker,
        pickers::PowerOfTwoPicker,
        pickers::RandomPicker,
        pickers::WeightedRandomPicker,
}

registry! {
    /// Say which profiles run.
    HANDLERS: ProfileHandler =
        handlers::DisaggProfileHandler,
        handlers::HeaderProfileHandler,
        handlers::SingleProfileHandler,
}

registry! {
    /// Say whether a stage is worth an endpoint of its own.
    DECIDERS: Decider =
        deciders::AlwaysDisaggMultimodalDecider,
        deciders::AlwaysDisaggPdDecider,
        deciders::PrefixBasedPdDecider,
}

/// Every type there is, by role.
pub fn kinds() -> impl Iterator<Item = &'static str> + Clone {
    let filters = FILTERS.iter().map(|entry| entry.kind);
    filters
        .chain(SCORERS.iter().map(|entry| entry.kind))
        .chain(PICKERS.iter().map(|entry| entry.kind))
        .chain(HANDLERS.iter().map(|entry| entry.kind))
        .chain(DECIDERS.iter().map(|entry| entry.kind))
}

/// The plugin of type `kind`.
///
/// # Errors
/// When there is none, naming those there are.
pub fn find<'r, T: ?Sized>(entries: &'r [Entry<T>], kind: &str) -> Result<&'r Entry<T>, String> {
    entries.iter().find(|entry| entry.kind == kind).ok_or_else(|| {
        let known: Vec<_> = entries.iter().map(|entry| entry.kind).collect();
        format!("unknown type; known here are {}", known.join(", "))
    })
}
