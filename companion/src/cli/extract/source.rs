//! Where scrapes come from.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use url::Url;

use crate::{
    cli::{Answer, UNREADABLE, read_stdin},
    config,
    discovery::{Access, TargetKey},
    scrape::Fetcher,
};

/// As long as people like to wait.
const TIMEOUT: Duration = Duration::from_secs(10);
/// As the companion's own default.
const MAX_BYTES: usize = 8 << 20;

/// The text of a scrape. What is not UTF-8 in it is replaced, as the companion does.
pub(super) async fn read(scrape: &str) -> Result<String, Answer> {
    if scrape == "-" {
        return read_stdin();
    }
    if !scrape.starts_with("http://") && !scrape.starts_with("https://") {
        let bytes = std::fs::read(scrape)
            .map_err(|error| Answer::failed(UNREADABLE, format!("{scrape}: cannot be read: {error}")))?;
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    let failed = |reason: String| Answer::failed(UNREADABLE, format!("{scrape}: {reason}"));
    let url = Url::parse(scrape).map_err(|error| failed(error.to_string()))?;
    let limits = config::Scrape { max_backoff: Duration::ZERO, max_response_bytes: MAX_BYTES };
    let fetcher = Fetcher::new(limits).map_err(failed)?;
    let target = TargetKey { url, access: Access::default() };
    let fetched = fetcher.fetch(&target, TIMEOUT).await.map_err(|error| failed(error.to_string()))?;
    Ok(fetched.text)
}

/// Files of expected values and the scrapes that they are about: of a folder all, of a file the one beside it.
pub(super) fn pairs(path: &Path) -> Result<Vec<(PathBuf, String)>, Answer> {
    let failed = |reason: String| Answer::failed(UNREADABLE, format!("{}: {reason}", path.display()));
    let mut expected = Vec::new();
    if path.is_dir() {
        for entry in std::fs::read_dir(path).map_err(|error| failed(format!("cannot be read: {error}")))? {
            expected.push(entry.map_err(|error| failed(format!("cannot be read: {error}")))?.path());
        }
        expected.retain(|file| scrape_of(file).is_some());
        expected.sort();
        if expected.is_empty() {
            return Err(failed("has no file called NAME.expect.json".to_owned()));
        }
    } else {
        expected.push(path.to_owned());
    }
    let pair = |file: PathBuf| {
        let reason = || failed("is not called NAME.expect.json, so name the scrape beside it".to_owned());
        let scrape = scrape_of(&file).ok_or_else(reason)?;
        Ok((file, scrape))
    };
    expected.into_iter().map(pair).collect()
}

fn scrape_of(expected: &Path) -> Option<String> {
    Some(format!("{}.prom", expected.to_str()?.strip_suffix(".expect.json")?))
}
