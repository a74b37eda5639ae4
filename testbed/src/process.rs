//! A child process that does not outlive its guard.

use std::{
    fs::File,
    future::Future,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::Context;
use rustix::process::{Pid, Signal, kill_process};

use crate::{wait, watchdog};

/// A running program. Dropping it kills it, and so does the end of this program, however it ends.
#[derive(Debug)]
pub struct Process {
    name: String,
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts `command`, with its output in `<name>.log` in `folder`.
    ///
    /// # Errors
    /// When it can't be started.
    pub fn start(name: &str, mut command: Command, folder: &Path) -> anyhow::Result<Self> {
        let log = folder.join(format!("{name}.log"));
        let output = File::options().create(true).append(true).open(&log)?;
        let child = command
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            // Ctrl-C in the terminal is for the guard's owner, which then ends what it holds in order.
            .process_group(0)
            .spawn()
            .with_context(|| format!("{name} could not be started: {command:?}"))?;
        let process = Self { name: name.to_owned(), child, log };
        watchdog::hold(process.id())?;
        Ok(process)
    }

    /// Lets it outlive this program.
    ///
    /// # Errors
    /// When that can't be arranged; it is killed then.
    pub fn leave_running(self) -> anyhow::Result<()> {
        watchdog::release(self.id())?;
        std::mem::forget(self);
        Ok(())
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether it still runs.
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Waits until `condition` gives a value.
    ///
    /// # Errors
    /// When it has not within `deadline`, or the process has ended; with the end of its log.
    pub(crate) async fn until<T, F: Future<Output = Option<T>>>(
        &mut self,
        what: &str,
        deadline: Duration,
        condition: impl FnMut() -> F,
    ) -> anyhow::Result<T> {
        let ended = || {
            anyhow::ensure!(self.is_running(), "{} has ended before {what}", self.name);
            Ok(())
        };
        let done = wait::until_or(what, deadline, condition, ended).await;
        done.with_context(|| self.log_tail())
    }

    /// Everything it has printed.
    pub fn log(&self) -> String {
        let bytes = std::fs::read(&self.log).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The end of what it has printed, for an error's message.
    pub fn log_tail(&self) -> String {
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        let tail = lines.get(lines.len().saturating_sub(30)..).unwrap_or_default();
        format!("--- last lines of {} ---\n{}\n", self.name, tail.join("\n"))
    }

    /// Stops it where it is, as SIGSTOP does.
    ///
    /// # Errors
    /// When the signal can't be sent.
    pub fn pause(&self) -> anyhow::Result<()> {
        self.signal(Signal::STOP)
    }

    /// Lets it go on.
    ///
    /// # Errors
    /// When the signal can't be sent.
    pub fn resume(&self) -> anyhow::Result<()> {
        self.signal(Signal::CONT)
    }

    /// Asks it to end.
    ///
    /// # Errors
    /// When the signal can't be sent.
    pub fn terminate(&self) -> anyhow::Result<()> {
        self.signal(Signal::TERM)
    }

    /// Kills it and waits until it is gone.
    pub fn kill(&mut self) {
        let _gone_already = self.child.kill();
        let _reaped = self.child.wait();
        let _nobody_listens = watchdog::release(self.id());
    }

    fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        let id =
            i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).context("the process has no id")?;
        kill_process(id, signal).with_context(|| format!("{signal:?} to {}", self.name))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
