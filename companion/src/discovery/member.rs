//! What discovery says of one endpoint.

use std::{path::Path, sync::Arc, time::Duration};

use headroom_datalayer::Endpoint;
use url::Url;

use crate::{extract::EngineReading, join::GpuSelector};

/// An endpoint of a pool, and where its values are.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member {
    /// The endpoint.
    pub(crate) endpoint: Endpoint,
    /// Everything that tells something about it.
    pub(crate) readings: Vec<Reading>,
}

/// A target that tells something about an endpoint.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reading {
    /// What is scraped.
    pub(crate) target: TargetKey,
    /// How often.
    pub(crate) pace: Pace,
    /// How the endpoint's values are found in the scrape.
    pub(crate) source: Source,
}

/// What makes two targets the same one: one that several endpoints name is scraped once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TargetKey {
    /// Where the metrics are.
    pub(crate) url: Url,
    /// What the target is shown, and how it is known to be the right one.
    pub(crate) access: Access,
}

/// What a target is shown, and how it is known to be the right one. The files are read again when they change.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Access {
    /// A file with a bearer token.
    pub(crate) bearer_token: Option<Arc<Path>>,
    /// Certificates that a target may be signed by, in a PEM file, in place of the system's.
    pub(crate) ca: Option<Arc<Path>>,
    /// The certificate and the key that are shown to the target, in PEM files.
    pub(crate) identity: Option<(Arc<Path>, Arc<Path>)>,
    /// Whether any certificate will do.
    pub(crate) insecure: bool,
}

/// How often a target is scraped, and how long that may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pace {
    /// The time between two scrapes.
    pub(crate) interval: Duration,
    /// After this a scrape is given up.
    pub(crate) timeout: Duration,
}

/// How an endpoint's values are found in a scrape.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Source {
    /// The scrape is the endpoint's own model server.
    Engine(EngineReading),
    /// The answer lists the models that the endpoint serves.
    Models,
    /// The scrape lists GPUs; those selected are the endpoint's.
    Gpus(GpuReading),
}

/// How an endpoint's values are found in the scrape of a GPU exporter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GpuReading {
    /// Which GPUs are the endpoint's.
    pub(crate) selector: GpuSelector,
    /// How often the exporter measures.
    pub(crate) refresh: Duration,
}
