//! Raw types to types that cannot be wrong.

use std::net::SocketAddr;

use super::{
    Config, ConfigErrors, Pool, error::quoted, feed::compile_feed, files, pool::compile_pool, raw,
    timing::compile_scrape,
};
use crate::discovery::SourceSpec;

/// Compiles a config; `errors` holds what reading already found.
pub(super) fn compile(raw: raw::Root, mut errors: ConfigErrors) -> Result<Config, ConfigErrors> {
    let feed = compile_feed(&raw.feed, &mut errors);
    let admin = listen("admin.listen", &raw.admin.listen, &mut errors);
    if let (Some(feed), Some(admin)) = (&feed, admin)
        && feed.listen == admin
        && admin.port() != 0
    {
        errors.push("admin.listen", quoted(&raw.admin.listen), "is the feed's address too");
    }
    let mut warnings = Vec::new();
    files::warn_of_unreadable(&raw, &mut warnings);
    let (reaches, scrape) = compile_scrape(&raw.scrape, &mut errors, &mut warnings);
    if raw.pools.is_empty() {
        errors.push("pools", "", "name at least one pool");
    }
    let mut pools: Vec<Pool> = Vec::new();
    for (index, pool) in raw.pools.into_iter().enumerate() {
        let path = format!("pools[{index}]");
        if pools.iter().any(|known| known.name == pool.name) {
            errors.push(&format!("{path}.name"), quoted(&pool.name), "another pool has this name");
        }
        let pool = compile_pool(&path, pool, &reaches, &mut errors, &mut warnings);
        if shows_a_token_openly(&pool) {
            warnings
                .push(format!("{path}: a bearer token is shown to http targets, where others can read it"));
        }
        pools.push(pool);
    }
    match (feed, admin) {
        (Some(feed), Some(admin)) if errors.is_empty() => Ok(Config { feed, admin, scrape, pools, warnings }),
        _ => Err(errors),
    }
}

fn shows_a_token_openly(pool: &Pool) -> bool {
    let members = pool.sources.iter().flat_map(SourceSpec::known);
    members
        .flat_map(|member| &member.readings)
        .any(|reading| reading.target.access.bearer_token.is_some() && reading.target.url.scheme() == "http")
}

pub(super) fn listen(path: &str, text: &str, errors: &mut ConfigErrors) -> Option<SocketAddr> {
    let address = text.parse().ok();
    if address.is_none() {
        errors.push(path, quoted(text), "is not ip:port, for instance 127.0.0.1:9002");
    }
    address
}
