//! Files that a config names.

use std::fs::File;

use super::{error::quoted, raw};

/// Warns of files that cannot be read where this runs. They may appear later, and a target whose files are
/// missing is bad until then, so that this is no error.
pub(super) fn warn_of_unreadable(root: &raw::Root, warnings: &mut Vec<String>) {
    if let Some(tls) = &root.feed.tls {
        let ca = tls.client_ca_file.as_deref().map(|file| ("clientCaFile", file));
        for (field, file) in [("certFile", &*tls.cert_file), ("keyFile", &tls.key_file)].into_iter().chain(ca)
        {
            of_file(&format!("feed.tls.{field}"), file, warnings);
        }
    }
    let scrape = &root.scrape;
    of_reach("scrape", scrape.tls.as_ref(), scrape.bearer_token_file.as_deref(), warnings);
    for (index, pool) in root.pools.iter().enumerate() {
        let defaults = format!("pools[{index}].defaults");
        of_fetch(&format!("{defaults}.scrape"), &pool.defaults.scrape, warnings);
        if let Some(gpus) = &pool.defaults.gpus {
            of_fetch(&format!("{defaults}.gpus.scrape"), &gpus.scrape, warnings);
        }
        for (number, endpoint) in pool.endpoints.iter().enumerate() {
            let path = format!("pools[{index}].endpoints[{number}]");
            of_fetch(&format!("{path}.scrape"), &endpoint.scrape, warnings);
            if let Some(gpus) = &endpoint.gpus {
                of_fetch(&format!("{path}.gpus.scrape"), &gpus.scrape, warnings);
            }
        }
    }
}

fn of_fetch(path: &str, fetch: &raw::Fetch, warnings: &mut Vec<String>) {
    of_reach(path, fetch.tls.as_ref(), fetch.bearer_token_file.as_deref(), warnings);
}

fn of_reach(path: &str, tls: Option<&raw::TargetTls>, token: Option<&str>, warnings: &mut Vec<String>) {
    let tls = tls.into_iter().flat_map(|tls| {
        [("tls.caFile", &tls.ca_file), ("tls.certFile", &tls.cert_file), ("tls.keyFile", &tls.key_file)]
    });
    let files = tls.filter_map(|(field, file)| Some((field, file.as_deref()?)));
    for (field, file) in files.chain(token.map(|file| ("bearerTokenFile", file))) {
        of_file(&format!("{path}.{field}"), file, warnings);
    }
}

fn of_file(path: &str, file: &str, warnings: &mut Vec<String>) {
    if let (false, Err(error)) = (file.is_empty(), File::open(file)) {
        warnings.push(format!("{path}: {}: cannot be read here: {error}", quoted(file)));
    }
}
