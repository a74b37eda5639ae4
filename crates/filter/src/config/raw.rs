//! The plugin config as it is written. The doc comments are the reference page.

use std::collections::BTreeMap;

use headroom_datalayer::SpanText;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The configuration of the Headroom plugin in Envoy.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PluginConfig {
    /// How the state of the pools reaches Envoy.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(required))]
    pub feed: Feed,
    /// The pools. Requests to clusters that no pool names pass untouched.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(required))]
    pub pools: Vec<Pool>,
}

/// How the state of the pools reaches Envoy.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Feed {
    /// Name of the Envoy cluster of the companion (HTTP/2).
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(required))]
    pub cluster: String,
    /// A stream that brings nothing, not even a heartbeat, for this long is taken for dead and opened
    /// anew. The companion sends at least every second. Default `5s`, at least `2s`.
    #[serde(default = "default_silence")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub silence: SpanText,
}

impl Default for Feed {
    fn default() -> Self {
        Self { cluster: String::new(), silence: default_silence() }
    }
}

fn default_silence() -> SpanText {
    SpanText(headroom_datalayer::Span::from_secs(5))
}

/// A set of endpoints that serve the same requests.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Pool {
    /// The pool's name, as the companion's config spells it.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(required))]
    pub name: String,
    /// The Envoy clusters whose requests this pool schedules. Each must have the `override_host` load
    /// balancing policy. Default: the cluster of the pool's name.
    #[serde(default)]
    pub clusters: Vec<String>,
    /// Who may and who should serve, applied in this order. With `scorers` and `picker` the short form of a
    /// pool's scheduler: one profile, named `default`.
    #[serde(default)]
    pub filters: Vec<PluginEntry>,
    /// How good an endpoint is. Default: queue-scorer and kv-cache-utilization-scorer with weight 2,
    /// running-requests-size-scorer and active-request-scorer with weight 1.
    #[serde(default)]
    pub scorers: Vec<PluginEntry>,
    /// How the choice is made. Default `max-score-picker`.
    #[serde(default)]
    pub picker: Option<PluginEntry>,
    /// All plugins, by name: llm-d's form of a pool's scheduler, in place of `filters`, `scorers` and
    /// `picker`. A profile handler among them says which profiles run; without one there is one profile.
    #[serde(default)]
    pub plugins: Vec<PluginEntry>,
    /// The profiles. Default: one, named `default`, of all filters, scorers and pickers among `plugins` in
    /// their order.
    #[serde(default)]
    pub scheduling_profiles: Vec<SchedulingProfile>,
    /// Share of the requests, 0 to 1, that go to an endpoint that answers the companion's scrapes but
    /// reports no value for a scorer, or that reports load although this proxy has no request there: so
    /// that one that is cold, or whose gauges are frozen, is not left alone for ever. At most one such
    /// request at a time; an endpoint that is not scraped gets none. Default 0.02.
    #[serde(default = "default_exploration")]
    pub exploration_probability: f64,
    /// How old a value may be, by attribute, for instance `{"WaitingQueueSize": "2s"}`; older values
    /// are missing. Default: the attribute's own limit.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "BTreeMap<String, String>"))]
    pub max_age: BTreeMap<String, SpanText>,
    /// What to do with requests while the feed has told of no endpoint.
    #[serde(default)]
    pub on_no_data: OnNoData,
    /// The longest request body that is read, in bytes; longer ones get 413. Envoy's own limit
    /// (`per_connection_buffer_limit_bytes`) must be higher. Default 16777216.
    #[serde(default = "default_max_body_bytes")]
    pub max_body_bytes: u64,
    /// Where decisions are shown.
    #[serde(default)]
    pub explain: Explain,
}

const fn default_exploration() -> f64 {
    0.02
}

const fn default_max_body_bytes() -> u64 {
    16 * 1024 * 1024
}

/// A profile of llm-d's form: filters in this order, weighted scorers, at most one picker.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SchedulingProfile {
    /// Its name.
    pub name: String,
    /// Its plugins.
    #[serde(default)]
    pub plugins: Vec<PluginReference>,
}

/// A plugin of a profile.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PluginReference {
    /// The name of one of `plugins`.
    pub plugin_ref: String,
    /// For scorers: the factor of their scores, from 0. Default 1.
    #[serde(default)]
    pub weight: Option<f64>,
}

/// What to do with requests while no endpoint of a pool is known: before the feed's first word, or when
/// the companion says that there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum OnNoData {
    /// The fallback policy of the cluster's `override_host` policy places the request, on any endpoint that
    /// Envoy itself knows: filters do not apply.
    #[default]
    PassThrough,
    /// The request gets 503.
    Reject,
}

/// Where decisions are shown.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Explain {
    /// Whether each decision is left as JSON for the access log:
    /// `%FILTER_STATE(wasm.headroom_decision:PLAIN)%`. Default true.
    pub access_log: bool,
    /// Name of a response header that carries the same JSON to the client. Default: none.
    pub response_header: Option<String>,
    /// At most this many excluded and as many scored endpoints are shown. Default 8.
    pub max_endpoints: usize,
}

impl Default for Explain {
    fn default() -> Self {
        Self { access_log: true, response_header: None, max_endpoints: 8 }
    }
}

/// A plugin: `type`, `name` (default: the type), for scorers `weight` (default 1), and the plugin's
/// parameters, either beside these or in `parameters`.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub struct PluginEntry(pub Map<String, Value>);

#[cfg(feature = "schema")]
impl schemars::JsonSchema for PluginEntry {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "PluginEntry".into()
    }

    fn json_schema(_generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "object",
            "description": "A plugin: its `type`, its `name` (default: the type), for scorers its `weight` (default 1), and its parameters, either beside these or in `parameters`.",
            "properties": {
                "type": {"type": "string"},
                "name": {"type": "string"},
                "weight": {"type": "number", "minimum": 0},
                "parameters": {"type": "object"},
            },
        })
    }
}
