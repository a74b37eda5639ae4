//! The scheduler decides the same natively and on the module's target, to the last bit.

use std::collections::BTreeSet;
use std::process::Command;

use headroom_filter::registry::{DECIDERS, Entry, FILTERS, HANDLERS, PICKERS, SCORERS};
use headroom_testbed::binaries::repository;

use crate::bench;

const SEED: &str = "1";
const DECISIONS: &str = "4000";

fn lines(command: &mut Command) -> Vec<String> {
    let output = command.args([SEED, DECISIONS]).output().expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8(output.stdout).expect("text").lines().map(str::to_owned).collect()
}

/// Where two lines part, with what comes after.
fn parting(native: &str, wasm: &str) -> String {
    let words = native.split(' ').zip(wasm.split(' '));
    match words.enumerate().find(|(_, (native, wasm))| native != wasm) {
        Some((at, (native, wasm))) => format!("word {at} is {native} natively and {wasm} in wasm"),
        None => "one line is longer".to_owned(),
    }
}

fn types<T: ?Sized>(role: &str, registry: &[Entry<T>]) -> Vec<String> {
    registry.iter().map(|entry| format!("{role}:{}", entry.kind)).collect()
}

#[test]
fn decisions_are_the_same_natively_and_in_wasm_and_use_every_plugin() {
    let native = lines(&mut Command::new(bench::built("decisions", None)));
    let mut node = Command::new(repository().join("scripts/wasi-run.mjs"));
    let wasm = lines(node.arg(bench::built("decisions", Some("wasm32-wasip1"))));
    assert_eq!(native.len().to_string(), DECISIONS);
    for (number, (native, wasm)) in native.iter().zip(&wasm).enumerate() {
        assert!(native == wasm, "decision {number}: {}\nin {native}", parting(native, wasm));
    }
    assert_eq!(native.len(), wasm.len(), "lines");

    let used: BTreeSet<&str> = native
        .iter()
        .filter_map(|line| line.split(' ').find_map(|word| word.strip_prefix("types=")))
        .flat_map(|types| types.split(','))
        .collect();
    let registered = [
        types("filter", FILTERS),
        types("scorer", SCORERS),
        types("picker", PICKERS),
        types("handler", HANDLERS),
        types("decider", DECIDERS),
    ];
    for plugin in registered.iter().flatten() {
        assert!(used.contains(plugin.as_str()), "no decision used {plugin}");
    }
    for outcome in [
        " placed=",
        " rejected=",
        " noProfile=",
        " fallback=leastBad/",
        " fallback=metricsMissing/",
        " fallback=probeUnmeasured/",
        " fallback=probeLoad/",
        " undecided=",
        "NoneCapable",
        "NoneAvailable",
        "Saturated",
    ] {
        let seen = native.iter().filter(|line| line.contains(outcome)).count();
        assert!(seen >= 20, "only {seen} decisions have {outcome:?}");
    }
}
