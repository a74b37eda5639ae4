//! Every plugin by its type name. Adding one is a file in `headroom-scheduling` and a line here.

use headroom_scheduling::{BuildContext, Filter, Invalid, Picker, Plugin, Scorer, filters, pickers, scorers};
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
        filters::EndpointAttributeFilter,
        filters::GpuUtilizationFilter,
        filters::LabelSelectorFilter,
}

registry! {
    /// Say how good each endpoint is.
    SCORERS: Scorer =
        scorers::ActiveRequestScorer,
        scorers::EndpointAttributeScorer,
        scorers::KvCacheUtilizationScorer,
        scorers::QueueScorer,
        scorers::RunningRequestsSizeScorer,
}

registry! {
    /// Put the scored endpoints in order.
    PICKERS: Picker =
        pickers::MaxScorePicker,
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
