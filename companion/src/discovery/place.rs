//! From a place where an endpoint was found to everything that is read about it.

use std::{collections::BTreeMap, net::SocketAddr, time::Duration};

use headroom_datalayer::{Address, Endpoint};
use url::Url;

use super::{Access, GpuReading, Member, Pace, Reading, Source, TargetKey};
use crate::{
    extract::{self, EngineReading},
    join::GpuSelector,
};

/// The labels by which a pod says which engine it runs, as in llm-d; the first that is there counts.
const ENGINE_LABELS: [&str; 2] = ["llm-d.ai/engine-type", "inference.networking.k8s.io/engine-type"];

/// An endpoint as a source found it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Place {
    /// Where requests are sent.
    pub(crate) address: Address,
    /// What people call it.
    pub(crate) name: String,
    /// Static facts.
    pub(crate) labels: BTreeMap<String, String>,
    /// The pod's name and namespace, where it is one.
    pub(crate) pod: Option<(String, String)>,
    /// The host of the GPU exporter that lists its GPUs, as it stands in a URL; where the source does not know,
    /// the endpoint's own.
    pub(crate) exporter_host: Option<String>,
}

/// How an endpoint is read whose place is all that is known of it.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    /// What is read in the model server's scrape.
    pub(crate) engine: EngineReading,
    /// Whether the engine may be named by a label of the endpoint.
    pub(crate) engine_by_label: bool,
    /// Where the model server's metrics are.
    pub(crate) metrics: Fetch,
    /// Where the model server lists its models, if it is asked.
    pub(crate) models: Option<Fetch>,
    /// Where the GPUs are, if they are known at all.
    pub(crate) gpus: Option<GpuTemplate>,
}

/// Where something is scraped, how often, and how it is reached.
#[derive(Clone, Debug)]
pub(crate) struct Fetch {
    /// Where it is.
    pub(crate) at: At,
    /// How it is reached.
    pub(crate) access: Access,
    /// How often it is scraped.
    pub(crate) pace: Pace,
}

/// Where a target is.
#[derive(Clone, Debug)]
pub(crate) enum At {
    /// At this URL.
    Url(Url),
    /// On a host that is known otherwise.
    Host {
        /// `http` or `https`.
        scheme: &'static str,
        /// The port, unless it is the usual one.
        port: Option<u16>,
        /// The path, from its slash on.
        path: String,
    },
}

/// Where the GPUs of endpoints are listed, and which are an endpoint's.
#[derive(Clone, Debug)]
pub(crate) struct GpuTemplate {
    /// The exporter.
    pub(crate) exporter: Fetch,
    /// Which of its GPUs are the endpoint's.
    pub(crate) join: GpuJoin,
    /// How often the exporter measures.
    pub(crate) refresh: Duration,
}

/// Which GPUs of an exporter are an endpoint's.
#[derive(Clone, Debug)]
pub(crate) enum GpuJoin {
    /// Those whose labels name its pod.
    Pod,
    /// Those that this selects.
    Selected(GpuSelector),
}

impl Template {
    /// Everything that is read about the endpoint at a place.
    pub(crate) fn member(&self, place: Place) -> Member {
        let mut engine = self.engine.clone();
        let label = ENGINE_LABELS.iter().find_map(|name| place.labels.get(*name));
        if let Some(table) = label.filter(|_| self.engine_by_label).and_then(|name| extract::engine(name)) {
            engine.table = Some(table);
        }
        let host = host_of(&place.address);
        let own_port = place.address.as_str().parse().map_or(80, |address: SocketAddr| address.port());
        let engine = self.metrics.reading(&host, own_port, Source::Engine(engine));
        let models = self.models.as_ref().and_then(|models| models.reading(&host, own_port, Source::Models));
        let gpus = self.gpus.as_ref().and_then(|gpus| gpus.reading(&place, &host));
        let Place { address, name, labels, .. } = place;
        let readings = engine.into_iter().chain(models).chain(gpus).collect();
        Member { endpoint: Endpoint { address, name, labels }, readings }
    }
}

impl Fetch {
    fn reading(&self, host: &str, usual_port: u16, source: Source) -> Option<Reading> {
        let url = match &self.at {
            At::Url(url) => url.clone(),
            At::Host { scheme, port, path } => {
                Url::parse(&format!("{scheme}://{host}:{}{path}", port.unwrap_or(usual_port))).ok()?
            }
        };
        Some(Reading { target: TargetKey { url, access: self.access.clone() }, pace: self.pace, source })
    }
}

impl GpuTemplate {
    fn reading(&self, place: &Place, host: &str) -> Option<Reading> {
        let selector = match (&self.join, &place.pod) {
            (GpuJoin::Selected(selector), _) => selector.clone(),
            (GpuJoin::Pod, Some((name, namespace))) => GpuSelector::pod(name, namespace),
            (GpuJoin::Pod, None) => return None,
        };
        let host = place.exporter_host.as_deref().unwrap_or(host);
        self.exporter.reading(host, DCGM_PORT, Source::Gpus(GpuReading { selector, refresh: self.refresh }))
    }
}

/// Where dcgm-exporter listens unless told otherwise.
const DCGM_PORT: u16 = 9400;

/// The host of an address as it stands in a URL.
fn host_of(address: &Address) -> String {
    address.as_str().rsplit_once(':').map_or_else(|| address.to_string(), |(host, _)| host.to_owned())
}
