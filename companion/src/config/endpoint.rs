//! One endpoint of a config or of an endpoint file, and what holds for all of a pool.

use std::time::Duration;

use headroom_datalayer::{Address, InvalidAddress};

use super::{
    ConfigErrors,
    error::quoted,
    gpus::{compile_at, compile_default_gpus, compile_gpus},
    raw,
    reach::{Reach, compile_url},
    timing::Reaches,
};
use crate::{
    discovery::{At, Fetch, Member, Place, Template},
    extract::{self, EngineReading},
};

/// The namespace of a pod that names none, as in llm-d's endpoint files.
const NAMESPACE: &str = "default";

/// What holds for the endpoints of a pool that do not say otherwise.
#[derive(Clone, Debug)]
pub(crate) struct Defaults {
    /// How an endpoint is read whose place is all that is known.
    pub(crate) template: Template,
    exporter: Reach,
    refresh: Duration,
}

impl Defaults {
    pub(super) fn compile(
        path: &str,
        raw: &raw::Defaults,
        reaches: &Reaches,
        errors: &mut ConfigErrors,
    ) -> Self {
        let engine = raw.engine.as_deref().and_then(|name| engine(&format!("{path}.engine"), name, errors));
        let Reach { access, pace } = reaches.engine.with(&format!("{path}.scrape"), &raw.scrape, errors);
        let usual = At::Host { scheme: "http", port: None, path: "/metrics".to_owned() };
        let at = compile_at(&format!("{path}.metrics"), &raw.metrics, errors).unwrap_or(usual);
        let gpus = raw
            .gpus
            .as_ref()
            .and_then(|gpus| compile_default_gpus(&format!("{path}.gpus"), gpus, reaches, errors));
        let refresh = gpus.as_ref().map_or(reaches.refresh, |gpus| gpus.refresh);
        let exporter = gpus.as_ref().map_or(reaches.exporter.clone(), |gpus| Reach {
            access: gpus.exporter.access.clone(),
            pace: gpus.exporter.pace,
        });
        let template = Template {
            engine: engine.unwrap_or_default(),
            engine_by_label: true,
            metrics: Fetch { at, access, pace },
            gpus,
        };
        Self { template, exporter, refresh }
    }

    pub(super) fn engine_interval(&self) -> Duration {
        self.template.metrics.pace.interval
    }

    pub(super) fn exporter_interval(&self) -> Duration {
        self.exporter.pace.interval
    }
}

/// Compiles an endpoint.
pub(crate) fn compile_endpoint(
    path: &str,
    raw: raw::Endpoint,
    defaults: &Defaults,
    errors: &mut ConfigErrors,
) -> Option<Member> {
    let mut template = defaults.template.clone();
    let address = match address(&raw.address, raw.port.as_ref()) {
        Ok(address) => Some(address),
        Err(error) => {
            errors.push(&format!("{path}.address"), quoted(&raw.address), error);
            None
        }
    };
    if let Some(name) = &raw.engine {
        template.engine = engine(&format!("{path}.engine"), name, errors).unwrap_or_default();
        template.engine_by_label = false;
    }
    let above = Reach { access: template.metrics.access.clone(), pace: template.metrics.pace };
    let Reach { access, pace } = above.with(&format!("{path}.scrape"), &raw.scrape, errors);
    template.metrics.access = access;
    template.metrics.pace = pace;
    if let Some(text) = &raw.metrics
        && let Some(url) = compile_url(&format!("{path}.metrics"), text, errors)
    {
        template.metrics.at = At::Url(url);
    }
    if let Some(gpus) = raw.gpus {
        template.gpus =
            compile_gpus(&format!("{path}.gpus"), gpus, &defaults.exporter, defaults.refresh, errors);
    }
    let address = address?;
    let pod = raw.name.clone().map(|name| (name, raw.namespace.unwrap_or_else(|| NAMESPACE.to_owned())));
    let name = raw.name.unwrap_or_else(|| address.to_string());
    Some(template.member(Place { address, name, labels: raw.labels, pod, exporter_host: None }))
}

fn engine(path: &str, name: &str, errors: &mut ConfigErrors) -> Option<EngineReading> {
    if name == "auto" {
        return Some(EngineReading::default());
    }
    let table = extract::engine(name);
    if table.is_none() {
        let known: Vec<&str> = extract::ENGINES.iter().map(|table| table.name).collect();
        let reason = format!("is no engine known here; known: auto, {}", known.join(", "));
        errors.push(path, quoted(name), reason);
    }
    table.map(|table| EngineReading { table: Some(table), ..EngineReading::default() })
}

/// `ip:port`, or an IP and the port beside it.
fn address(text: &str, port: Option<&raw::Port>) -> Result<Address, InvalidAddress> {
    let port = match port {
        None => return text.parse(),
        Some(raw::Port::Number(port)) => port.to_string(),
        Some(raw::Port::Text(port)) => port.clone(),
    };
    match text.parse() {
        Ok(std::net::IpAddr::V6(ip)) => format!("[{ip}]:{port}").parse(),
        _ => format!("{text}:{port}").parse(),
    }
}
