//! Ends what this program has started when the program ends without its guards: Ctrl-C in a test run,
//! an abort, SIGKILL.
//!
//! A shell reads a pipe of which this program alone holds the other end. However the program ends, the
//! pipe closes, and the shell kills what is still on its list.

use std::{
    io::Write as _,
    os::unix::process::CommandExt as _,
    process::{ChildStdin, Command, Stdio},
    sync::{Mutex, PoisonError},
};

use anyhow::Context;

const SCRIPT: &str = r#"
trap '' HUP INT TERM
held=' '
while read -r word id; do
  case "$word$held" in
    hold*) held="$held$id " ;;
    release*" $id "*) held="${held%% $id *} ${held#* $id }" ;;
  esac
done
[ "$held" = ' ' ] || kill -9 $held
"#;

static PIPE: Mutex<Option<ChildStdin>> = Mutex::new(None);

/// Puts a process on the list.
pub(crate) fn hold(id: u32) -> anyhow::Result<()> {
    tell("hold", id)
}

/// Takes a process from the list: it has ended, or may stay.
pub(crate) fn release(id: u32) -> anyhow::Result<()> {
    tell("release", id)
}

fn tell(word: &str, id: u32) -> anyhow::Result<()> {
    let mut pipe = PIPE.lock().unwrap_or_else(PoisonError::into_inner);
    let pipe = match &mut *pipe {
        Some(pipe) => pipe,
        none => none.insert(start()?),
    };
    pipe.write_all(format!("{word} {id}\n").as_bytes()).context("the watchdog is gone")
}

fn start() -> anyhow::Result<ChildStdin> {
    let mut shell = Command::new("sh");
    // No output of its own: whoever waits for the end of this program's output must not wait for it.
    shell.arg("-c").arg(SCRIPT).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    // A Ctrl-C in the terminal is not for it.
    let mut child = shell.process_group(0).spawn().context("sh could not be started")?;
    child.stdin.take().context("sh has no input")
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path, process::Command, time::Duration};

    use crate::{Process, wait};

    /// Run by the test below in a program of its own.
    #[test]
    #[ignore = "waits to be killed"]
    fn holder() {
        let folder = std::env::current_dir().expect("a folder");
        let sleep = |name: &str| {
            let mut command = Command::new("sleep");
            command.arg("1000");
            Process::start(name, command, &folder).expect("sleep starts")
        };
        let (mut ended, held, kept) = (sleep("ended"), sleep("held"), sleep("kept"));
        let ids = (held.id(), kept.id());
        ended.kill();
        kept.leave_running().expect("the watchdog listens");
        println!("\nids {} {} .", ids.0, ids.1);
        std::thread::park();
    }

    fn runs(id: &str) -> bool {
        // What has ended but was not waited for has no command line.
        fs::read(Path::new("/proc").join(id).join("cmdline")).is_ok_and(|line| !line.is_empty())
    }

    fn ids(log: &str) -> Option<(String, String)> {
        let (held, kept) = log.split_once("\nids ")?.1.split_once(" .")?.0.split_once(' ')?;
        (runs(held) && runs(kept)).then(|| (held.to_owned(), kept.to_owned()))
    }

    #[tokio::test]
    async fn what_a_killed_program_has_started_ends_with_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = Command::new(std::env::current_exe().expect("a path"));
        command.args(["--exact", "watchdog::tests::holder", "--ignored", "--nocapture"]);
        command.current_dir(folder.path());
        let mut program = Process::start("holder", command, folder.path()).expect("the test starts itself");
        let deadline = Duration::from_secs(10);
        let look = || async { ids(&fs::read_to_string(folder.path().join("holder.log")).ok()?) };
        let (held, kept) = program.until("both run", deadline, look).await.expect("two processes");
        program.kill();
        let gone = || async { (!runs(&held)).then_some(()) };
        let outcome = wait::until("what it held is gone", deadline, gone).await;
        let stayed = runs(&kept);
        for id in [held, kept] {
            let _gone_already = Command::new("kill").args(["-9", &id]).status();
        }
        outcome.expect("gone");
        assert!(stayed, "what was left running stays");
    }
}
