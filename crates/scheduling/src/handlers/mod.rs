//! Profile handlers, one file each.

mod disagg;
mod header;
mod single;

pub use disagg::DisaggProfileHandler;
pub use header::HeaderProfileHandler;
pub use single::SingleProfileHandler;

use crate::{BuildContext, Invalid};

/// The index of a profile by its name.
fn profile(name: &str, path: &str, cx: &BuildContext<'_>) -> Result<usize, Invalid> {
    cx.profiles.iter().position(|profile| profile == name).ok_or_else(|| {
        let known = cx.profiles.join(", ");
        Invalid::new(path, format!("{name:?}"), format!("is not the name of a profile; there are {known}"))
    })
}

#[cfg(test)]
mod tests;
