//! The commands that read files and answer: `check`, `import`, `explain` and `extract`.
//!
//! Each is a function from its arguments to an [`Answer`]; [`emit`] alone writes.

pub(crate) mod check;
mod documents;
pub(crate) mod explain;
pub(crate) mod extract;
mod finding;
pub(crate) mod import;
mod parts;
mod plugin_configs;
mod spelling;
mod tree;

use std::{io::Write, path::Path, process::ExitCode};

/// Everything is in order.
const OK: u8 = 0;
/// The input was read and has faults.
const FAULTS: u8 = 1;
/// The input cannot be read, or the command line is wrong (clap uses the same code).
const UNREADABLE: u8 = 2;

/// What a command says and how it ends.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    stdout: String,
    stderr: String,
    code: u8,
}

impl Answer {
    /// Ends the command with words on stderr.
    fn failed(code: u8, words: String) -> Self {
        Self { code, stderr: words + "\n", stdout: String::new() }
    }
}

/// Writes the answer. Somebody who closes the pipe early has read enough.
pub(crate) fn emit(answer: &Answer) -> ExitCode {
    let _closed_pipe = std::io::stderr().write_all(answer.stderr.as_bytes());
    let _closed_pipe = std::io::stdout().write_all(answer.stdout.as_bytes());
    ExitCode::from(answer.code)
}

/// Reads a file as text.
fn read_text(path: &Path) -> Result<String, Answer> {
    std::fs::read_to_string(path)
        .map_err(|error| Answer::failed(UNREADABLE, format!("{}: cannot be read: {error}", path.display())))
}

/// Reads standard input as text.
fn read_stdin() -> Result<String, Answer> {
    std::io::read_to_string(std::io::stdin())
        .map_err(|error| Answer::failed(UNREADABLE, format!("standard input cannot be read: {error}")))
}
