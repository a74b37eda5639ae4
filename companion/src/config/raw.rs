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
    pub(super) feed: Feed,
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

/// The feed.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Feed {
    /// `ip:port` to listen on; port 0 takes a free one, which the log names.
    pub(super) listen: String,
    /// TLS. Default: none.
    #[serde(default)]
    pub(super) tls: Option<FeedTls>,
    /// How many streams there may be at once, 1 to 65536; one more is refused. Default: 1024.
    #[serde(default)]
    pub(super) max_subscribers: Option<u64>,
    /// A message longer than this many bytes is not sent but logged and counted, 65536 to 1073741824. A pool's
    /// snapshot takes up to 1000 bytes for each endpoint. Default: 33554432 (32 MiB).
    #[serde(default)]
    pub(super) max_message_bytes: Option<u64>,
}

/// TLS of the feed. The files are read again when they change; connections that are open stay as they are.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct FeedTls {
    /// A PEM file with the certificate that Envoy is shown, and those between it and the authority's.
    pub(super) cert_file: String,
    /// A PEM file with the certificate's key.
    pub(super) key_file: String,
    /// A PEM file with the certificate authorities of which Envoy must show a certificate. Default: any client is
    /// served.
    #[serde(default)]
    pub(super) client_ca_file: Option<String>,
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
    /// How often GPU exporters measure, 10ms to 10m. A value that has not changed since the last scrape may be as old
    /// as this. Default: `30s`, as dcgm-exporter unless `DCGM_EXPORTER_INTERVAL` says otherwise.
    #[serde(default)]
    pub(super) exporter_refresh: Option<String>,
    /// After this long a scrape has failed, 10ms to the larger of the interval and 5s (later, the
    /// answer would be too old to use). Default: `2s`.
    #[serde(default)]
    pub(super) timeout: Option<String>,
    /// The longest pause before a failing target is tried again, from `interval` to 5m; never shorter than
    /// the target's own interval. The pause doubles from that interval with each failure. Default: `2s`.
    #[serde(default)]
    pub(super) max_backoff: Option<String>,
    /// An answer longer than this many bytes, unpacked, is refused, 1024 to 268435456. Default: 8388608 (8 MiB).
    #[serde(default)]
    pub(super) max_response_bytes: Option<u64>,
    /// How `https` targets are known, and what they are shown. Default: the system's certificate authorities, and no
    /// certificate of our own.
    #[serde(default)]
    pub(super) tls: Option<TargetTls>,
    /// A file with a token that targets are shown as `Authorization: Bearer`; read again when it changes. Default: none.
    #[serde(default)]
    pub(super) bearer_token_file: Option<String>,
}

/// How some targets are scraped; what is not given here is as above it.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Fetch {
    /// Time from one scrape to the next, 10ms to 5m.
    #[serde(default)]
    pub(super) interval: Option<String>,
    /// After this long a scrape has failed.
    #[serde(default)]
    pub(super) timeout: Option<String>,
    /// How `https` targets are known, and what they are shown.
    #[serde(default)]
    pub(super) tls: Option<TargetTls>,
    /// A file with a token that targets are shown as `Authorization: Bearer`. An empty name: none.
    #[serde(default)]
    pub(super) bearer_token_file: Option<String>,
}

/// How `https` targets are known, and what they are shown. The files are read again when they change.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct TargetTls {
    /// A PEM file with the certificate authorities that a target's certificate may come from. Default: the system's.
    #[serde(default)]
    pub(super) ca_file: Option<String>,
    /// A PEM file with the certificate that targets are shown. Default: none.
    #[serde(default)]
    pub(super) cert_file: Option<String>,
    /// A PEM file with the certificate's key. Required with `certFile`.
    #[serde(default)]
    pub(super) key_file: Option<String>,
    /// `true`: take any certificate. Whoever is on the way can then answer in the target's place. Default: `false`.
    #[serde(default)]
    pub(super) insecure_skip_verify: bool,
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
    /// A file with more endpoints, which is read again when it changes. Default: none.
    #[serde(default)]
    pub(super) file: Option<EndpointFile>,
    /// What holds for each endpoint that does not say otherwise, wherever it was found.
    #[serde(default)]
    pub(super) defaults: Defaults,
}

/// A file of endpoints: `endpoints: [...]`, each entry as in the config, or as in llm-d's endpoint files with `name`,
/// `namespace`, `address`, `port` and `labels`. An entry that is wrong is reported and leaves the others, and what was
/// known of an entry of its name, as they are.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct EndpointFile {
    /// The file, YAML or JSON, up to 8 MiB.
    pub(super) path: String,
}

/// One addressable model-server replica.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Endpoint {
    /// `ip:port` as Envoy knows the host, IPv6 in brackets; or the IP alone, with `port`. Required.
    #[serde(default)]
    pub(super) address: String,
    /// The port, where `address` has none: a number, or a number as text as in llm-d's endpoint files.
    #[serde(default)]
    pub(super) port: Option<Port>,
    /// What people call it; of a pod, its name. Default: the address.
    #[serde(default)]
    pub(super) name: Option<String>,
    /// The namespace of the pod that `name` is, for the GPUs that a pod has. Default: `default`.
    #[serde(default)]
    pub(super) namespace: Option<String>,
    /// Static facts that label selectors can use, for instance `llm-d.ai/role: decode`. Default: none.
    #[serde(default)]
    pub(super) labels: BTreeMap<String, String>,
    /// Which model server it runs; `auto` finds out from the scrape. Default: the label `llm-d.ai/engine-type`, else
    /// `defaults.engine`.
    #[serde(default)]
    pub(super) engine: Option<String>,
    /// Where the model server's metrics are, an `http` or `https` URL. Default: as `defaults.metrics` says.
    #[serde(default)]
    pub(super) metrics: Option<String>,
    /// How the model server is scraped. Default: as `defaults.scrape` says.
    #[serde(default)]
    pub(super) scrape: Fetch,
    /// Attributes that the config knows better than the scrape, for instance `{CacheBlockSize: 528}`; where the scrape
    /// says something else, `/targets` shows both. Default: `defaults.attributes`.
    #[serde(default)]
    pub(super) attributes: BTreeMap<String, Fixed>,
    /// Which GPUs it runs on. Default: as `defaults.gpus` says.
    #[serde(default)]
    pub(super) gpus: Option<Gpus>,
}

/// A port, as a number or as text.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub(super) enum Port {
    /// A number.
    Number(u16),
    /// A number as text.
    Text(String),
}

/// What holds for the endpoints of a pool that do not say otherwise.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Defaults {
    /// Which model server they run; `auto` finds out from the scrape. Default: `auto`.
    #[serde(default)]
    pub(super) engine: Option<String>,
    /// Where their metrics are. Default: `http`, the endpoint's own port, `/metrics`.
    #[serde(default)]
    pub(super) metrics: At,
    /// How the model servers are scraped. Default: as `scrape` says.
    #[serde(default)]
    pub(super) scrape: Fetch,
    /// More attributes from the model servers' metrics, and other ones for those that the engine's table gives.
    /// Default: none.
    #[serde(default)]
    pub(super) custom: Vec<Custom>,
    /// Attributes that the config knows better than the scrapes, for instance `{CacheBlockSize: 528}`. Default: none.
    #[serde(default)]
    pub(super) attributes: BTreeMap<String, Fixed>,
    /// Ask the model servers which models they serve, and how long a context they take. Default: not asked; the names
    /// are those in the metrics, and `MaxModelLen` is missing.
    #[serde(default)]
    pub(super) models: Option<Models>,
    /// Where their GPUs are. Default: unknown, and no GPU attribute.
    #[serde(default)]
    pub(super) gpus: Option<DefaultGpus>,
}

/// Where model servers list their models.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Models {
    /// The path, at the endpoint's own address. Default: `/v1/models`.
    #[serde(default)]
    pub(super) path: Option<String>,
    /// `http` or `https`. Default: `http`.
    #[serde(default)]
    pub(super) scheme: Option<String>,
    /// How it is asked for. Default: as `defaults.scrape` says, every 30s.
    #[serde(default)]
    pub(super) scrape: Fetch,
}

/// An attribute that is read from a metric of the config's own choice.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Custom {
    /// The attribute: one of docs/attributes.md, an alias of one, or any other name.
    pub(super) attribute: String,
    /// The metric.
    pub(super) metric: String,
    /// Labels that the metric's series must have. Default: none.
    #[serde(default, rename = "match")]
    pub(super) matching: BTreeMap<String, String>,
    /// How several series become one value: `sum`, `mean`, `max`, `min`, or `latest` by the samples' own times. Default:
    /// the attribute's rule in docs/attributes.md; required for any other name.
    #[serde(default)]
    pub(super) aggregate: Option<String>,
    /// Factor to the attribute's unit, for instance 0.01 from percent to a fraction. Default: 1.
    #[serde(default = "one")]
    pub(super) scale: f64,
    /// `true`: the metric is a counter, and the value is what it gains in a second. Default: `false`; a metric that is
    /// declared a counter is then refused.
    #[serde(default)]
    pub(super) rate: bool,
}

/// A value that the config knows.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub(super) enum Fixed {
    /// A number in the attribute's unit.
    Number(f64),
    /// Names, of an attribute that is a set of them.
    Names(Vec<String>),
}

/// Where metrics are on a host.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct At {
    /// `http` or `https`. Default: `http`.
    #[serde(default)]
    pub(super) scheme: Option<String>,
    /// The port. Default: of a model server the endpoint's own, of a GPU exporter 9400.
    #[serde(default)]
    pub(super) port: Option<u16>,
    /// The path. Default: `/metrics`.
    #[serde(default)]
    pub(super) path: Option<String>,
}

/// Where the GPUs of a pool's endpoints are listed, and which are whose.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DefaultGpus {
    /// One exporter for all endpoints, an `http` or `https` URL. Default: one on each endpoint's host, as `at` says.
    #[serde(default)]
    pub(super) exporter: Option<String>,
    /// Where the exporter is on the endpoint's host: of a pod the host that it runs on, else the endpoint's own address.
    #[serde(default)]
    pub(super) at: At,
    /// `pod`: the GPUs whose labels name the endpoint's pod and namespace. `host`: every GPU that the exporter lists.
    /// Default: `pod`.
    #[serde(default)]
    pub(super) by: Option<String>,
    /// How often the exporters measure, 10ms to 10m. Default: `scrape.exporterRefresh`.
    #[serde(default)]
    pub(super) refresh: Option<String>,
    /// How the exporters are scraped. Default: as the top level's `scrape` says, with its `exporterInterval`.
    #[serde(default)]
    pub(super) scrape: Fetch,
}

/// Which GPUs of an exporter belong to an endpoint. Exactly one of `uuids`, `pciBusIds`, `mig`, `labels` and
/// `host` says so.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Gpus {
    /// The GPU exporter's metrics, an `http` or `https` URL. One that several endpoints name is scraped once.
    /// Required.
    #[serde(default)]
    pub(super) exporter: String,
    /// How the exporter is scraped. Default: as `defaults.gpus.scrape` says.
    #[serde(default)]
    pub(super) scrape: Fetch,
    /// GPU UUIDs, in any case.
    #[serde(default)]
    pub(super) uuids: Option<Vec<String>>,
    /// PCI bus ids such as `0000:1b:00.0`, in any case, with a domain of four or eight digits or none.
    #[serde(default)]
    pub(super) pci_bus_ids: Option<Vec<String>>,
    /// MIG slices: the card's UUID or PCI bus id, and the GPU instance id.
    #[serde(default)]
    pub(super) mig: Option<Vec<Mig>>,
    /// Labels of the exporter's samples, for instance `{pod: qwen-0, namespace: serving}`, `{hpc_job: "7001"}` or
    /// `{dra_claim_name: c, dra_claim_namespace: n}`: all must be equal. An empty value matches nothing.
    #[serde(default)]
    pub(super) labels: Option<BTreeMap<String, String>>,
    /// `true`: every GPU that the exporter lists. A host's name: those of this host, where the exporter lists several.
    #[serde(default)]
    pub(super) host: Option<Host>,
}

/// A MIG slice.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Mig {
    /// The card: its UUID or its PCI bus id.
    pub(super) gpu: String,
    /// The GPU instance id, `GPU_I_ID` in the exporter's labels.
    pub(super) instance: u32,
}

/// Whether all GPUs of a scrape, or those of one host.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub(super) enum Host {
    /// All or none.
    All(bool),
    /// Those of this host.
    Named(String),
}

fn one() -> f64 {
    1.0
}

fn default_feed() -> Feed {
    let listen = "127.0.0.1:9002".to_owned();
    Feed { listen, tls: None, max_subscribers: None, max_message_bytes: None }
}

fn default_admin() -> Listener {
    Listener { listen: "127.0.0.1:9003".to_owned() }
}
