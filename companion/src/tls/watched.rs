//! Something that is made from files, and made anew when they change.

use std::{
    fmt,
    os::unix::fs::MetadataExt,
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime},
};

use tokio::{sync::Mutex, time::Instant};

/// The shortest time between two looks at the files.
const LOOK: Duration = Duration::from_secs(1);

/// What files hold. Files that cannot be used any more leave what they held before in force.
pub(crate) struct Watched<T> {
    files: Arc<[Arc<Path>]>,
    read: Arc<dyn Fn() -> Result<T, String> + Send + Sync>,
    state: Mutex<State<T>>,
}

struct State<T> {
    looked: Option<Instant>,
    /// The files when they were read last; `None` to read them at the next look in any case.
    stamps: Option<Vec<Option<Stamp>>>,
    value: Option<T>,
    problem: Option<String>,
}

/// What changes when a file's content does.
type Stamp = (SystemTime, u64, u64);

/// What files hold now.
#[derive(Clone, Debug)]
pub(crate) struct Current<T> {
    /// Made from the files.
    pub(crate) value: T,
    /// Why the files cannot be used any more, so that the value is an earlier one.
    pub(crate) problem: Option<String>,
}

impl<T: Clone + Send + 'static> Watched<T> {
    /// What `read` makes of the files. Its errors name the file and say why.
    pub(crate) fn new(
        files: impl IntoIterator<Item = Arc<Path>>,
        read: impl Fn() -> Result<T, String> + Send + Sync + 'static,
    ) -> Self {
        let state = State { looked: None, stamps: None, value: None, problem: None };
        Self { files: files.into_iter().collect(), read: Arc::new(read), state: Mutex::new(state) }
    }

    /// What the files hold, looked at not longer ago than a second.
    ///
    /// # Errors
    /// When they never could be used: the file and why.
    pub(crate) async fn current(&self) -> Result<Current<T>, String> {
        let mut state = self.state.lock().await;
        if state.looked.is_none_or(|at| at.elapsed() >= LOOK) {
            self.look(&mut state).await;
        }
        match (&state.value, &state.problem) {
            (Some(value), problem) => Ok(Current { value: value.clone(), problem: problem.clone() }),
            (None, Some(problem)) => Err(problem.clone()),
            (None, None) => Err("reading files was given up".to_owned()),
        }
    }

    async fn look(&self, state: &mut State<T>) {
        let (files, read, known) = (Arc::clone(&self.files), Arc::clone(&self.read), state.stamps.clone());
        let look = move || {
            // Before reading, so that what changes meanwhile is read again.
            let stamps: Vec<Option<Stamp>> = files.iter().map(|file| stamp(file)).collect();
            (known.as_ref() != Some(&stamps)).then(|| (stamps, read()))
        };
        let Ok(looked) = tokio::task::spawn_blocking(look).await else { return };
        state.looked = Some(Instant::now());
        match looked {
            None => {}
            Some((stamps, Ok(value))) => {
                if state.problem.take().is_some() {
                    tracing::info!(files = ?self.files, "files can be used again");
                }
                state.stamps = Some(stamps);
                state.value = Some(value);
            }
            Some((_, Err(problem))) => {
                // What does not show in a stamp, such as its permissions, may change too.
                state.stamps = None;
                if state.problem.as_ref() != Some(&problem) {
                    let kept = if state.value.is_some() { "; what it held before stays in use" } else { "" };
                    tracing::warn!("{problem}{kept}");
                }
                state.problem = Some(problem);
            }
        }
    }
}

impl<T> fmt::Debug for Watched<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watched").field("files", &self.files).finish_non_exhaustive()
    }
}

fn stamp(file: &Path) -> Option<Stamp> {
    let metadata = std::fs::metadata(file).ok()?;
    Some((metadata.modified().ok()?, metadata.len(), metadata.ino()))
}
