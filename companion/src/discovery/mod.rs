//! Which endpoints a pool has, and where their values are.
//!
//! A pool has sources: the config file itself, a watched file, DNS, Kubernetes. Each is a task of its own that
//! leaves a whole [`Listing`] in its [`Outlet`] whenever something changed; the [`Coordinator`] merges them
//! and keeps the feed and the scrapes in step.

mod coordinator;
mod file;
mod listing;
mod member;
mod place;

pub(crate) use coordinator::{Coordinator, PoolSources, Sources};
pub(crate) use file::FileSpec;
pub(crate) use listing::{Listing, Outlet};
pub(crate) use member::{Access, GpuReading, Member, Pace, Reading, Source, TargetKey};
pub(crate) use place::{At, Fetch, GpuJoin, GpuTemplate, Place, Template};

/// A source of endpoints, as the config describes it.
#[derive(Clone, Debug)]
pub(crate) enum SourceSpec {
    /// The config file itself.
    Static(Vec<Member>),
    /// A file that is read again when it changes.
    File(FileSpec),
}

impl SourceSpec {
    /// What people call the source.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Static(_) => "config".to_owned(),
            Self::File(file) => format!("file {}", file.path.display()),
        }
    }

    /// The endpoints that are known without asking anybody.
    pub(crate) fn known(&self) -> &[Member] {
        match self {
            Self::Static(members) => members,
            Self::File(_) => &[],
        }
    }

    /// Lists the source's endpoints for as long as the process runs.
    pub(crate) async fn run(self, outlet: Outlet) {
        match self {
            Self::Static(members) => outlet.list(members, Vec::new()),
            Self::File(file) => file.run(outlet).await,
        }
    }
}
