//! A decision's cost grows no faster than the pool.

use std::process::Command;

use crate::bench;

/// The fuel of one decision: of two more decisions, halved. What starting costs is in both runs.
fn fuel(what: &str, profile: &str, endpoints: u32) -> f64 {
    let run = |times: u32| -> f64 {
        let output = Command::new(bench::built("fuel", None))
            .arg(bench::built("cost", Some("wasm32-wasip1")))
            .args([what, profile, &endpoints.to_string(), &times.to_string()])
            .output()
            .expect("the program starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().parse().expect("a number")
    };
    (run(3) - run(1)) / 2.0
}

#[test]
fn an_endpoint_costs_at_most_1_3_times_as_much_among_4096_as_among_512() {
    for what in ["schedule", "explain"] {
        for profile in ["default", "full"] {
            let (few, many) = (fuel(what, profile, 512) / 512.0, fuel(what, profile, 4096) / 4096.0);
            assert!(few > 1.0, "{what} {profile}: {few} units an endpoint");
            assert!(
                many <= 1.3 * few,
                "{what} {profile}: {few} units an endpoint among 512, {many} among 4096"
            );
        }
    }
}
