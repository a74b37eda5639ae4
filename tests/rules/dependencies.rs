//! Dependencies point one way (docs/ARCHITECTURE.md).

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// Every package of the module's dependency graph, by name, with what it needs in a build (no tests).
fn graph() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--locked", "--format-version", "1"])
        .current_dir(headroom_testbed::binaries::repository())
        .output()
        .expect("cargo metadata runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let list = |value: &Value, key: &str| value[key].as_array().cloned().unwrap_or_default();
    let mut names = BTreeMap::new();
    let mut optional = BTreeSet::new();
    for package in list(&metadata, "packages") {
        let (id, name) = (package["id"].to_string(), package["name"].as_str().unwrap_or_default().to_owned());
        for dependency in list(&package, "dependencies") {
            if dependency["optional"] == true {
                optional.insert((name.clone(), dependency["name"].as_str().unwrap_or_default().to_owned()));
            }
        }
        names.insert(id, name);
    }
    let mut graph = BTreeMap::new();
    for node in list(&metadata["resolve"], "nodes") {
        let name = names[&node["id"].to_string()].clone();
        let needs = list(&node, "deps")
            .iter()
            .filter(|dependency| list(dependency, "dep_kinds").iter().any(|kind| kind["kind"].is_null()))
            .map(|dependency| names[&dependency["pkg"].to_string()].clone())
            .filter(|needed| !optional.contains(&(name.clone(), needed.clone())))
            .collect();
        graph.insert(name, needs);
    }
    graph
}

fn all_below(graph: &BTreeMap<String, BTreeSet<String>>, root: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![root.to_owned()];
    while let Some(name) = open.pop() {
        for needed in graph.get(&name).into_iter().flatten() {
            if found.insert(needed.clone()) {
                open.push(needed.clone());
            }
        }
    }
    found
}

#[test]
fn the_core_knows_neither_the_proxy_nor_a_runtime() {
    let graph = graph();
    for (package, forbidden) in [
        ("headroom-exposition", &["serde", "tokio", "prost", "proxy-wasm"][..]),
        ("headroom-datalayer", &["tokio", "tonic", "prost", "proxy-wasm", "serde_json", "log", "tracing"]),
        (
            "headroom-scheduling",
            &["tokio", "tonic", "prost", "proxy-wasm", "log", "tracing", "headroom-wire"],
        ),
        ("headroom-wire", &["tokio", "tonic", "proxy-wasm", "headroom-scheduling"]),
        ("headroom-filter", &["tokio", "tonic", "proxy-wasm", "log", "tracing"]),
        ("headroom", &["tokio", "tonic", "headroom-exposition"]),
        ("headroom-companion", &["proxy-wasm"]),
    ] {
        let below = all_below(&graph, package);
        for name in forbidden {
            assert!(!below.contains(*name), "{package} depends on {name}");
        }
    }
}

#[test]
fn crates_depend_in_one_direction_only() {
    let graph = graph();
    let ours = |package: &str| -> Vec<String> {
        let needs = graph.get(package).expect("a package of this workspace").iter();
        needs.filter(|name| name.starts_with("headroom")).cloned().collect()
    };
    assert_eq!(ours("headroom-datalayer"), [""; 0]);
    assert_eq!(ours("headroom-exposition"), [""; 0]);
    assert_eq!(ours("headroom-scheduling"), ["headroom-datalayer"]);
    assert_eq!(ours("headroom-wire"), ["headroom-datalayer"]);
    assert_eq!(ours("headroom-filter"), ["headroom-datalayer", "headroom-scheduling", "headroom-wire"]);
    assert_eq!(ours("headroom-bench"), ["headroom-datalayer", "headroom-filter", "headroom-scheduling"]);
    // The command-line tools compile and run the plugin's config as the filter does.
    assert_eq!(
        ours("headroom-companion"),
        [
            "headroom-datalayer",
            "headroom-exposition",
            "headroom-filter",
            "headroom-scheduling",
            "headroom-wire"
        ]
    );
}
