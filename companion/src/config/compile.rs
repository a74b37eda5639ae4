//! Raw types to types that cannot be wrong.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    net::SocketAddr,
};

use headroom_datalayer::{Address, Endpoint};
use reqwest::Url;

use super::{
    Config, ConfigErrors, Consumer, Pool, Source, Target,
    error::quoted,
    gpus::{compile_gpus, compile_url},
    raw,
    timing::{Intervals, compile_scrape},
};
use crate::extract;

/// Compiles a config; `errors` holds what reading already found.
pub(super) fn compile(raw: raw::Root, mut errors: ConfigErrors) -> Result<Config, ConfigErrors> {
    let feed = listen("feed.listen", &raw.feed.listen, &mut errors);
    let admin = listen("admin.listen", &raw.admin.listen, &mut errors);
    if let (Some(feed), Some(admin)) = (feed, admin)
        && feed == admin
        && feed.port() != 0
    {
        errors.push("admin.listen", quoted(&raw.admin.listen), "is the feed's address too");
    }
    let mut warnings = Vec::new();
    let (intervals, scrape) = compile_scrape(&raw.scrape, &mut errors, &mut warnings);
    if raw.pools.is_empty() {
        errors.push("pools", "", "name at least one pool");
    }
    let mut compiler = Compiler { errors, intervals, targets: Vec::new(), target_of: BTreeMap::new() };
    let mut pools: Vec<Pool> = Vec::new();
    for (index, pool) in raw.pools.into_iter().enumerate() {
        let path = format!("pools[{index}]");
        if pools.iter().any(|known| known.name == pool.name) {
            compiler.errors.push(&format!("{path}.name"), quoted(&pool.name), "another pool has this name");
        }
        pools.push(compiler.pool(index, &path, pool));
    }
    match (feed, admin, compiler.errors) {
        (Some(feed), Some(admin), errors) if errors.is_empty() => {
            Ok(Config { feed, admin, scrape, pools, targets: compiler.targets, warnings })
        }
        (_, _, errors) => Err(errors),
    }
}

fn listen(path: &str, text: &str, errors: &mut ConfigErrors) -> Option<SocketAddr> {
    let address = text.parse().ok();
    if address.is_none() {
        errors.push(path, quoted(text), "is not ip:port, for instance 127.0.0.1:9002");
    }
    address
}

struct Compiler {
    errors: ConfigErrors,
    intervals: Intervals,
    targets: Vec<Target>,
    target_of: BTreeMap<Url, usize>,
}

impl Compiler {
    fn pool(&mut self, index: usize, path: &str, raw: raw::Pool) -> Pool {
        if raw.name.is_empty() || raw.name.chars().count() > 253 || raw.name.contains(['/', ',']) {
            let reason = "give the pool a name of 1 to 253 characters without '/' and ',', which Envoy's plugin does not take";
            self.errors.push(&format!("{path}.name"), quoted(&raw.name), reason);
        }
        let mut endpoints: Vec<Endpoint> = Vec::new();
        let mut first_use: BTreeMap<Address, usize> = BTreeMap::new();
        for (number, endpoint) in raw.endpoints.into_iter().enumerate() {
            let path = format!("{path}.endpoints[{number}]");
            let Some(endpoint) = self.endpoint(index, &path, endpoint) else { continue };
            match first_use.entry(endpoint.address.clone()) {
                Entry::Occupied(first) => {
                    let reason = format!("endpoints[{}] of this pool has the same address", first.get());
                    self.errors.push(&format!("{path}.address"), quoted(endpoint.address.as_str()), reason);
                }
                Entry::Vacant(free) => {
                    free.insert(number);
                    endpoints.push(endpoint);
                }
            }
        }
        Pool { name: raw.name, endpoints }
    }

    fn endpoint(&mut self, pool: usize, path: &str, raw: raw::Endpoint) -> Option<Endpoint> {
        let address: Option<Address> = match raw.address.parse() {
            Ok(address) => Some(address),
            Err(error) => {
                self.errors.push(&format!("{path}.address"), quoted(&raw.address), error);
                None
            }
        };
        let engine = raw.engine.as_deref().unwrap_or("vllm");
        let table = extract::engine(engine);
        if table.is_none() {
            let known: Vec<&str> = extract::ENGINES.iter().map(|table| table.name).collect();
            let reason = format!("is no engine known here; known: {}", known.join(", "));
            self.errors.push(&format!("{path}.engine"), quoted(engine), reason);
        }
        let metrics = raw.metrics.or_else(|| Some(format!("http://{}/metrics", address.as_ref()?)));
        let metrics =
            metrics.and_then(|text| compile_url(&format!("{path}.metrics"), &text, &mut self.errors));
        let gpus = raw.gpus.and_then(|gpus| compile_gpus(&format!("{path}.gpus"), gpus, &mut self.errors));
        let address = address?;
        if let (Some(table), Some(url)) = (table, metrics) {
            self.consume(url, Consumer { pool, address: address.clone(), source: Source::Engine(table) });
        }
        if let Some((url, selector)) = gpus {
            self.consume(url, Consumer { pool, address: address.clone(), source: Source::Gpus(selector) });
        }
        let name = raw.name.unwrap_or_else(|| address.to_string());
        Some(Endpoint { address, name, labels: raw.labels })
    }

    /// Adds a consumer to the target of its URL, which is scraped as often as any of them wants.
    fn consume(&mut self, url: Url, consumer: Consumer) {
        let interval = match consumer.source {
            Source::Engine(_) => self.intervals.engine,
            Source::Gpus(_) => self.intervals.exporter,
        };
        let index = *self.target_of.entry(url.clone()).or_insert(self.targets.len());
        match self.targets.get_mut(index) {
            Some(target) => {
                target.interval = target.interval.min(interval);
                target.consumers.push(consumer);
            }
            None => self.targets.push(Target { url, interval, consumers: vec![consumer] }),
        }
    }
}
