//! Endpoints in a file that is read again when it changes: llm-d's endpoint file, and the same entries as in the config.

mod read;

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use tokio::time::{MissedTickBehavior, interval};

use super::{Member, Outlet};
use crate::config::EndpointDefaults;

/// How often the file is looked at. It is read, not watched: what mounts files into containers replaces links to
/// folders, and network file systems tell nothing.
const PAUSE: Duration = Duration::from_secs(1);
/// A longer file is refused.
const MAX_BYTES: u64 = 8 << 20;

/// A watched file.
#[derive(Clone, Debug)]
pub(crate) struct FileSpec {
    /// The file.
    pub(crate) path: PathBuf,
    /// What holds for its entries that do not say otherwise.
    pub(crate) defaults: Arc<EndpointDefaults>,
}

impl FileSpec {
    /// Lists the file's endpoints for as long as the process runs.
    pub(super) async fn run(self, outlet: Outlet) {
        let mut ticks = interval(PAUSE);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut last_text = None;
        // The entries that were good the last time, by the name that they have in the file.
        let mut known: BTreeMap<String, Member> = BTreeMap::new();
        loop {
            ticks.tick().await;
            let text = match self.text().await {
                Ok(text) => text,
                Err(problem) => {
                    last_text = None;
                    outlet.fail(problem);
                    continue;
                }
            };
            if last_text.as_ref() == Some(&text) {
                continue;
            }
            match read::read(&text, &self.defaults, &known) {
                Ok(entries) => {
                    known = entries.named;
                    outlet.list(entries.members, entries.problems);
                }
                Err(problem) => outlet.fail(problem),
            }
            last_text = Some(text);
        }
    }

    async fn text(&self) -> Result<String, String> {
        let unreadable = |error: std::io::Error| format!("{}: cannot be read: {error}", self.path.display());
        let len = tokio::fs::metadata(&self.path).await.map_err(unreadable)?.len();
        if len > MAX_BYTES {
            return Err(format!(
                "{}: has {len} bytes, and {MAX_BYTES} at most are read",
                self.path.display()
            ));
        }
        tokio::fs::read_to_string(&self.path).await.map_err(unreadable)
    }
}

#[cfg(test)]
mod tests;
