//! What the sources look like.

use std::path::{Path, PathBuf};
use std::process::Command;

use headroom_testbed::binaries::repository;

/// Every file of the repository that git knows or would add.
fn files() -> Vec<PathBuf> {
    let output = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(repository())
        .output()
        .expect("git runs");
    let text = String::from_utf8(output.stdout).expect("file names");
    text.lines().map(PathBuf::from).filter(|path| repository().join(path).is_file()).collect()
}

fn read(path: &Path) -> String {
    let bytes = std::fs::read(repository().join(path)).expect("a file that is listed can be read");
    String::from_utf8_lossy(&bytes).into_owned()
}

fn ends_with(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

#[test]
fn no_source_file_is_longer_than_500_lines() {
    let sources = files().into_iter().filter(|path| ends_with(path, "rs"));
    for path in sources.filter(|path| !path.components().any(|part| part.as_os_str() == "generated")) {
        let lines = read(&path).lines().count();
        assert!(lines <= 500, "{}: {lines} lines", path.display());
    }
}

#[test]
fn only_host_rs_calls_the_proxy() {
    for path in files().into_iter().filter(|path| path.starts_with("src") && ends_with(path, "rs")) {
        if !path.ends_with("host.rs") {
            assert!(!read(&path).contains("hostcalls"), "{} names hostcalls", path.display());
        }
    }
}

#[test]
fn the_core_asks_for_no_time_and_no_chance() {
    for path in files().into_iter().filter(|path| ends_with(path, "rs")) {
        let core = ["datalayer", "scheduling", "filter", "wire", "exposition"];
        if !core.iter().any(|name| path.starts_with(format!("crates/{name}/src"))) {
            continue;
        }
        let text = read(&path);
        for word in
            ["SystemTime", "Instant::now", "RandomState", "fastrand::Rng::new()", "std::fs", "std::net::Tcp"]
        {
            assert!(!text.contains(word), "{}: {word}", path.display());
        }
    }
}

#[test]
fn no_path_of_a_machine_stands_in_the_repository() {
    for path in files() {
        if path.ends_with("sources.rs") || ends_with(&path, "lock") {
            continue;
        }
        let text = read(&path);
        for word in ["/work/", "/root/", "/home/"] {
            assert!(!text.contains(word), "{}: {word}", path.display());
        }
    }
}
