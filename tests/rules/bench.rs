//! The programs of `bench/`, built in release form as the module is.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;

use headroom_testbed::binaries::repository;
use serde_json::Value;

/// Tests run at the same time; cargo's messages are read one build after the other.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Where the program of this name is, built for `target` or natively.
pub(crate) fn built(name: &str, target: Option<&str>) -> PathBuf {
    let _turn = ONE_AT_A_TIME.lock();
    let output = Command::new(env!("CARGO"))
        .args(["build", "--locked", "--quiet", "--release", "--message-format=json"])
        .args(["-p", "headroom-bench", "--bin", name])
        .args(target.into_iter().flat_map(|target| ["--target", target]))
        .current_dir(repository())
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    let messages = String::from_utf8(output.stdout).expect("text");
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let made = messages.filter(|message| message["target"]["name"] == name);
    let mut files = made.filter_map(|message| message["executable"].as_str().map(PathBuf::from));
    files.next().expect("cargo names the program")
}
