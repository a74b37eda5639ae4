use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use tokio::sync::{Notify, watch};

use super::{FileSpec, read::read};
use crate::{
    config::{self, EndpointDefaults},
    discovery::{Listing, Member, Outlet, Source, SourceSpec},
    testing::eventually,
};

/// What holds for a pool with these `defaults`.
fn defaults(text: &str) -> Arc<EndpointDefaults> {
    let config = config::parse(&format!("pools: [{{name: p, file: {{path: f}}, defaults: {text}}}]"));
    let pool = config.expect("a good config").pools.into_iter().next().expect("a pool");
    let file = pool.sources.into_iter().find_map(|source| match source {
        SourceSpec::File(file) => Some(file),
        SourceSpec::Static(_) => None,
    });
    file.expect("a file").defaults
}

/// `name@address [url]` of each, with the engine where it is known and the selector of its GPUs.
fn show(members: &[Member]) -> Vec<String> {
    let reading = |member: &Member| {
        let shown = member.readings.iter().map(|reading| match &reading.source {
            Source::Engine(engine) => {
                format!("{} {:?}", reading.target.url, engine.table.map(|table| table.name))
            }
            Source::Gpus(gpus) => format!("{} {:?}", reading.target.url, gpus.selector),
            Source::Models => format!("{} models", reading.target.url),
        });
        shown.collect::<Vec<_>>().join(", ")
    };
    let member = |member: &Member| {
        format!("{}@{}: {}", member.endpoint.name, member.endpoint.address, reading(member))
    };
    members.iter().map(member).collect()
}

const LLM_D: &str = r#"
endpoints:
- name: vllm-0
  namespace: serving
  address: 10.0.0.1
  port: "8000"
  labels: {llm-d.ai/role: decode, llm-d.ai/engine-type: sglang}
- name: vllm-1
  address: 10.0.0.2
  port: "8000"
"#;

#[test]
fn the_endpoint_file_of_llm_d_is_read() {
    let defaults = defaults("{gpus: {exporter: 'http://10.9.9.9:9400/metrics'}}");
    let entries = read(LLM_D, &defaults, &BTreeMap::new()).expect("a file");
    assert_eq!(entries.problems, [""; 0]);
    assert_eq!(
        show(&entries.members),
        [
            "vllm-0@10.0.0.1:8000: http://10.0.0.1:8000/metrics Some(\"sglang\"), http://10.9.9.9:9400/metrics \
             Labels({\"namespace\": \"serving\", \"pod\": \"vllm-0\"})",
            "vllm-1@10.0.0.2:8000: http://10.0.0.2:8000/metrics None, http://10.9.9.9:9400/metrics \
             Labels({\"namespace\": \"default\", \"pod\": \"vllm-1\"})",
        ]
    );
    let role = entries.members.first().and_then(|member| member.endpoint.labels.get("llm-d.ai/role"));
    assert_eq!(role.map(String::as_str), Some("decode"));
}

#[test]
fn our_own_entries_may_say_more() {
    let defaults =
        defaults("{metrics: {port: 9000, path: /m}, gpus: {at: {port: 9401}, by: host}, models: {}}");
    let text = r#"{"endpoints": [
        {"address": "[fd00::1]:80", "name": "six", "engine": "tgi"},
        {"address": "fd00::2", "port": 80, "metrics": "https://m/", "gpus": {"exporter": "http://e/", "mig": [{"gpu": "GPU-A", "instance": 3}]}}
    ]}"#;
    let entries = read(text, &defaults, &BTreeMap::new()).expect("a file");
    assert_eq!(entries.problems, [""; 0]);
    assert_eq!(
        show(&entries.members),
        [
            "six@[fd00::1]:80: http://[fd00::1]:9000/m Some(\"tgi\"), http://[fd00::1]/v1/models models, \
             http://[fd00::1]:9401/metrics Host",
            "[fd00::2]:80@[fd00::2]:80: https://m/ None, http://[fd00::2]/v1/models models, http://e/ \
             Mig({(Uuid(\"gpu-a\"), 3)})",
        ]
    );
}

#[test]
fn a_bad_entry_is_reported_and_leaves_the_others_and_what_was_known_of_it() {
    let defaults = defaults("{}");
    let known = read(LLM_D, &defaults, &BTreeMap::new()).expect("a file").named;
    let text =
        LLM_D.replace("10.0.0.1\n", "vllm-0.local\n") + "- {name: new, address: 10.0.0.3}\n- 5\nmode: fast\n";
    let entries = read(&text, &defaults, &known).expect("a file");
    let addresses: Vec<_> = entries.members.iter().map(|member| member.endpoint.address.as_str()).collect();
    assert_eq!(addresses, ["10.0.0.1:8000", "10.0.0.2:8000"]);
    let expected = [
        "mode: is not used",
        "endpoints[0].address: \"vllm-0.local:8000\": is not an address",
        "endpoints[2].address: \"10.0.0.3\": is not an address",
        "endpoints[3]: invalid type: integer `5`",
    ];
    assert_eq!(entries.problems.len(), expected.len(), "{:?}", entries.problems);
    for (problem, start) in entries.problems.iter().zip(expected) {
        assert!(problem.starts_with(start), "{problem}");
    }
    for (text, says) in [
        ("endpoints: 5", "must be a list"),
        ("{}", "must have a key"),
        ("endpoints: [", "neither YAML nor JSON"),
    ] {
        let problem = read(text, &defaults, &known).expect_err("no file");
        assert!(problem.contains(says), "{problem}");
    }
}

/// A file that is watched.
struct Watched {
    path: PathBuf,
    listing: watch::Receiver<Listing>,
}

impl Watched {
    fn start(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("headroom-{}-{name}.yaml", std::process::id()));
        let (outlet, listing) = Outlet::new(Arc::new(Notify::new()));
        tokio::spawn(FileSpec { path: path.clone(), defaults: defaults("{}") }.run(outlet));
        Self { path, listing }
    }

    /// Puts a text in the file's place at once, as whatever mounts config does.
    fn write(&self, text: &str) {
        let fresh = self.path.with_extension("new");
        std::fs::write(&fresh, text).expect("written");
        std::fs::rename(&fresh, &self.path).expect("renamed");
    }

    /// Waits for a listing with so many endpoints and, where there is one, a problem that says so.
    async fn lists(&self, endpoints: Option<usize>, says: Option<&str>) {
        let is_so = async || {
            let listing = self.listing.borrow();
            let told = match (says, listing.problems.as_slice()) {
                (None, []) => true,
                (Some(says), [problem, ..]) => problem.contains(says),
                _ => false,
            };
            (told && listing.members.as_ref().map(Vec::len) == endpoints).then_some(())
        };
        eventually(&format!("{endpoints:?} endpoints and {says:?}"), is_so).await;
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _gone = std::fs::remove_file(&self.path);
    }
}

#[tokio::test]
async fn a_change_of_the_file_is_followed_and_a_broken_file_changes_nothing() {
    let watched = Watched::start("follow");
    watched.lists(None, Some("cannot be read")).await;
    watched.write(LLM_D);
    watched.lists(Some(2), None).await;
    watched.write("endpoints: [");
    watched.lists(Some(2), Some("neither YAML nor JSON")).await;
    std::fs::remove_file(&watched.path).expect("removed");
    watched.lists(Some(2), Some("cannot be read")).await;
    watched.write("endpoints: [{address: '10.0.0.9:80'}]");
    watched.lists(Some(1), None).await;
    watched.write("endpoints: []");
    watched.lists(Some(0), None).await;
}
