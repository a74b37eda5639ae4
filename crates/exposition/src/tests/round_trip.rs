//! What is printed reads back, and a broken line costs itself alone.

use proptest::prelude::*;

use super::{one, print::print};
use crate::{Label, Sample, parse};

fn any_name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "up",
        "vllm:num_requests_waiting",
        "_x",
        "DCGM_FI_DEV_GPU_UTIL",
        "http.requests",
        "时间 }",
    ])
}

fn any_value() -> impl Strategy<Value = f64> {
    let special = vec![0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MAX, f64::MIN_POSITIVE];
    prop_oneof![
        any::<f64>(),
        prop::sample::select(special),
        (0..10_000_i32).prop_map(f64::from),
        (0..1_000_000_i32).prop_map(|number| f64::from(number) / 1e4),
    ]
}

/// Any text, or one in which what needs care is frequent.
fn any_label_value() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[\"\\\\\n\r\t {},=#né模]{0,12}"]
}

fn any_sample() -> impl Strategy<Value = Sample<'static>> {
    let names =
        prop::sample::subsequence(vec!["engine", "le", "model_name", "k8s.pod", "9"], 0..=5).prop_shuffle();
    let values = prop::collection::vec(any_label_value(), 5);
    (any_name(), names, values, any_value(), prop::option::of(any::<i64>())).prop_map(
        |(name, names, values, value, timestamp_micros)| {
            let labels = names
                .into_iter()
                .zip(values)
                .map(|(name, value)| Label { name, value: value.into() })
                .collect();
            Sample { name, labels, value, timestamp_micros, line: 1 }
        },
    )
}

/// An exemplar with any label value, or none.
fn any_exemplar() -> impl Strategy<Value = String> {
    let exemplar = any_sample().prop_map(|sample| {
        let line = print(&Sample { name: "x", ..sample });
        let braces = line.strip_prefix('x').filter(|rest| rest.starts_with('{')).map(str::to_owned);
        braces.map(|braces| format!(" # {braces}")).unwrap_or_default()
    });
    prop_oneof![Just(String::new()), exemplar]
}

fn any_line_end() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["\n", "\r\n", " \t\r\n"])
}

/// A line that nothing can be read from.
fn broken_line() -> impl Strategy<Value = String> {
    let half = (any_sample(), any::<prop::sample::Index>()).prop_map(|(sample, index)| {
        let line = print(&sample);
        let half: String = line.chars().take(index.index(line.chars().count())).collect();
        half + "{"
    });
    prop_oneof![
        "[^\r\n]{0,40}".prop_map(|noise| format!("?{noise}")),
        half,
        any_sample().prop_map(|sample| print(&sample) + " 1 2 3"),
        Just("# TYPE x speedometer".to_owned()),
    ]
}

fn same(read: &Sample<'_>, written: &Sample<'_>, line: usize) -> bool {
    let bits = |value: f64| if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() };
    bits(read.value) == bits(written.value)
        && Sample { value: 0.0, ..read.clone() } == Sample { value: 0.0, line, ..written.clone() }
}

proptest! {
    #[test]
    fn what_is_printed_reads_back(sample in any_sample(), exemplar in any_exemplar(), end in any_line_end()) {
        let text = format!("{}{exemplar}{end}# EOF{end}", print(&sample));
        let read = one(&text);
        prop_assert!(same(&read, &sample, 1), "{text}: {read:?}");
    }

    #[test]
    fn milliseconds_read_back(sample in any_sample(), ms in -4_000_000_000_000_i64..4_000_000_000_000) {
        let sample = Sample { timestamp_micros: None, ..sample };
        let text = format!("{} {ms}", print(&sample));
        let read = one(&text);
        prop_assert_eq!(read.timestamp_micros, Some(ms * 1_000));
        prop_assert!(same(&Sample { timestamp_micros: None, ..read }, &sample, 1), "{text}");
    }

    #[test]
    fn a_broken_line_changes_nothing_for_its_neighbours(
        samples in prop::collection::vec(any_sample(), 0..20),
        broken in broken_line(),
        at in any::<prop::sample::Index>(),
        end in any_line_end(),
    ) {
        let at = at.index(samples.len() + 1);
        let mut lines: Vec<String> = samples.iter().map(print).collect();
        lines.insert(at, broken);
        let text = lines.iter().map(|line| format!("{line}{end}")).collect::<String>() + "# EOF\n";
        let parsed = parse(&text);
        prop_assert_eq!(parsed.errors.iter().map(|error| error.line).collect::<Vec<_>>(), [at + 1]);
        prop_assert_eq!(parsed.samples.len(), samples.len());
        for (index, (read, written)) in parsed.samples.iter().zip(&samples).enumerate() {
            let line = index + 1 + usize::from(index >= at);
            prop_assert!(same(read, written, line), "line {line} of {text}: {read:?}");
        }
    }

    #[test]
    fn noise_never_panics(text in any::<String>()) {
        let parsed = parse(&text);
        prop_assert!(parsed.error_count >= parsed.errors.len());
    }

    #[test]
    fn noise_made_of_the_grammars_own_parts_never_panics(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "x", "{", "}", "\"", "\\", ",", "=", "#", " ", "\n", "\r", "1", "NaN", "# TYPE", "# EOF", "é",
            ]),
            0..60,
        )
    ) {
        let text = parts.concat();
        let parsed = parse(&text);
        for (index, line) in text.split('\n').enumerate() {
            let line = line.trim_matches([' ', '\t', '\r']);
            let is_read = parsed.samples.iter().any(|sample| sample.line == index + 1);
            let is_reported = parsed.errors.iter().any(|error| error.line == index + 1);
            let is_sample = !line.is_empty() && !line.starts_with('#');
            prop_assert!(!(is_read && is_reported), "{line} is read and reported");
            prop_assert!(is_read || is_reported || !is_sample, "{line} is lost");
        }
    }
}
