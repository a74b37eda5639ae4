//! The config file as it is written. The comments here are its reference.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The config of `headroom serve`.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Root {
    /// The gRPC feed that Envoy subscribes to. Default: `{listen: "127.0.0.1:9002"}`.
    #[serde(default = "default_feed")]
    pub(super) feed: Listener,
    /// Health, metrics and the state of the targets over HTTP. Default: `{listen: "127.0.0.1:9003"}`.
    #[serde(default = "default_admin")]
    pub(super) admin: Listener,
    /// How targets are scraped.
    #[serde(default)]
    pub(super) scrape: Scrape,
    /// The pools. Required, at least one; names are unique.
    #[serde(default)]
    pub(super) pools: Vec<Pool>,
}

/// A server's address.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Listener {
    /// `ip:port` to listen on; port 0 takes a free one, which the log names.
    pub(super) listen: String,
}

/// How targets are scraped. Each target has a loop of its own with at most one scrape under way.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Scrape {
    /// Time from one scrape of a model server to the next, 10ms to 5m. Default: `200ms`. A target that
    /// answers more slowly than this is scraped less often.
    #[serde(default)]
    pub(super) interval: Option<String>,
    /// The same for GPU exporters. Default: `interval`.
    #[serde(default)]
    pub(super) exporter_interval: Option<String>,
    /// After this long a scrape has failed, 10ms to the larger of the interval and 5s (later, the
    /// answer would be too old to use). Default: `2s`.
    #[serde(default)]
    pub(super) timeout: Option<String>,
    /// The longest pause before a failing target is tried again, from `interval` to 5m; never shorter than
    /// the target's own interval. The pause doubles from that interval with each failure. Default: `2s`.
    #[serde(default)]
    pub(super) max_backoff: Option<String>,
    /// An answer longer than this many bytes is refused, 1024 to 268435456. Default: 8388608 (8 MiB).
    #[serde(default)]
    pub(super) max_response_bytes: Option<u64>,
}

/// A named set of endpoints.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Pool {
    /// The name that the plugin config in Envoy uses, 1 to 253 characters
    /// without '/' and ','. Required.
    #[serde(default)]
    pub(super) name: String,
    /// The endpoints; addresses are unique within the pool. Default: none.
    #[serde(default)]
    pub(super) endpoints: Vec<Endpoint>,
}

/// One addressable model-server replica.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Endpoint {
    /// `ip:port` as Envoy knows the host, IPv6 in brackets. Required.
    #[serde(default)]
    pub(super) address: String,
    /// What people call it. Default: the address.
    #[serde(default)]
    pub(super) name: Option<String>,
    /// Static facts that label selectors can use, for instance `llm-d.ai/role: decode`. Default: none.
    #[serde(default)]
    pub(super) labels: BTreeMap<String, String>,
    /// Which model server it runs. Default: `vllm`.
    #[serde(default)]
    pub(super) engine: Option<String>,
    /// Where the model server's metrics are, an `http` URL. Default: `http://<address>/metrics`.
    #[serde(default)]
    pub(super) metrics: Option<String>,
    /// Which GPUs it runs on. Default: unknown, and no GPU attribute.
    #[serde(default)]
    pub(super) gpus: Option<Gpus>,
}

/// Which GPUs of an exporter belong to an endpoint. Exactly one of `uuids`, `pciBusIds`, `labels` and
/// `host` says so.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Gpus {
    /// The dcgm-exporter's metrics, an `http` URL. One that several endpoints name is scraped once.
    /// Required.
    #[serde(default)]
    pub(super) exporter: String,
    /// GPU UUIDs, in any case.
    #[serde(default)]
    pub(super) uuids: Option<Vec<String>>,
    /// PCI bus ids such as `0000:1b:00.0`, in any case, with a domain of four or eight digits or none.
    #[serde(default)]
    pub(super) pci_bus_ids: Option<Vec<String>>,
    /// Labels of the exporter's samples, for instance `{pod: qwen-0, namespace: serving}`: all must be
    /// equal. An empty value matches nothing.
    #[serde(default)]
    pub(super) labels: Option<BTreeMap<String, String>>,
    /// `true`: every GPU that the exporter lists.
    #[serde(default)]
    pub(super) host: Option<bool>,
}

fn default_feed() -> Listener {
    Listener { listen: "127.0.0.1:9002".to_owned() }
}

fn default_admin() -> Listener {
    Listener { listen: "127.0.0.1:9003".to_owned() }
}
