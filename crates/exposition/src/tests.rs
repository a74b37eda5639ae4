use proptest::prelude::*;

use crate::{Kind, Label, Limits, Reason, Sample, parse, parse_within};

/// The one sample of a text without errors.
fn one(text: &str) -> Sample<'_> {
    let parsed = parse(text);
    assert_eq!(parsed.errors, [], "{text}");
    assert_eq!(parsed.samples.len(), 1, "{text}");
    parsed.samples.into_iter().next().expect("one")
}

fn errors(text: &str) -> Vec<(usize, Reason)> {
    parse(text).errors.iter().map(|error| (error.line, error.reason)).collect()
}

#[test]
fn well_formed_lines() {
    type Case<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)], f64, Option<i64>);
    let cases: &[Case<'_>] = &[
        ("up 1", "up", &[], 1.0, None),
        ("  up\t 1  \r\n", "up", &[], 1.0, None),
        ("a:b:c{} 2", "a:b:c", &[], 2.0, None),
        ("_x{l=\"\"} 3", "_x", &[("l", "")], 3.0, None),
        ("x { a = \"1\" , b = \"2\" , } 4", "x", &[("a", "1"), ("b", "2")], 4.0, None),
        ("x{a=\"1\"}4", "x", &[("a", "1")], 4.0, None),
        (
            r#"x{m="w \"q\" } , # \\ 模型 \n end"} 2.5e-1"#,
            "x",
            &[("m", "w \"q\" } , # \\ 模型 \n end")],
            0.25,
            None,
        ),
        (r#"x{p="C:\dir"} 1"#, "x", &[("p", r"C:\dir")], 1.0, None),
        ("x +Inf", "x", &[], f64::INFINITY, None),
        ("x -Inf", "x", &[], f64::NEG_INFINITY, None),
        ("x 1e3 1764403360250", "x", &[], 1000.0, Some(1_764_403_360_250_000)),
        ("x 1 -5", "x", &[], 1.0, Some(-5_000)),
        ("x 1 1764403360.25\n# EOF\n", "x", &[], 1.0, Some(1_764_403_360_250_000)),
        ("x 1 1764403360\r\n# EOF\r\n", "x", &[], 1.0, Some(1_764_403_360_000_000)),
        ("x_bucket{le=\"1\"} 4 # {id=\"a}b\"} 0.29 1764403359.9", "x_bucket", &[("le", "1")], 4.0, None),
        ("x_bucket 9 5000 # {} 2.5\n", "x_bucket", &[], 9.0, Some(5_000_000)),
        ("\u{feff}x 1", "x", &[], 1.0, None),
    ];
    for (text, name, labels, value, timestamp) in cases {
        let sample = one(text);
        let got: Vec<_> = sample.labels.iter().map(|label| (label.name, label.value.as_ref())).collect();
        assert_eq!((sample.name, got.as_slice(), sample.timestamp_micros), (*name, *labels, *timestamp));
        assert!(sample.value.to_bits() == value.to_bits(), "{text}: {}", sample.value);
    }
    assert!(one("x NaN").value.is_nan());
}

#[test]
fn broken_lines_are_named_with_their_reason() {
    let cases: &[(&str, Reason)] = &[
        ("9lives 1", Reason::NotAName),
        ("<html>", Reason::NotAName),
        ("{a=\"b\"} 1", Reason::NotAName),
        ("x{9=\"b\"} 1", Reason::NotALabelName),
        ("x{,} 1", Reason::NotALabelName),
        ("x{a} 1", Reason::NotALabelValue),
        ("x{a=b} 1", Reason::NotALabelValue),
        ("x{a=\"b\" 3.0", Reason::NoComma),
        ("x{a=\"b\"", Reason::UnterminatedLabels),
        ("x{a=\"b\",", Reason::UnterminatedLabels),
        ("x{a=\"b", Reason::UnterminatedLabels),
        ("x{a=\"b\\", Reason::UnterminatedLabels),
        ("x{a=", Reason::UnterminatedLabels),
        ("x{model_na", Reason::UnterminatedLabels),
        ("x{a=\"1\",a=\"2\"} 1", Reason::DuplicateLabel),
        ("x", Reason::NoValue),
        ("x{a=\"b\"}", Reason::NoValue),
        ("x # {} 1", Reason::NoValue),
        ("x zero", Reason::NotANumber),
        ("x 181,5", Reason::NotANumber),
        ("x 1 2.5", Reason::NotATimestamp),
        ("x 1 99999999999999999", Reason::NotATimestamp),
        ("x 1 soon\n# EOF", Reason::NotATimestamp),
        ("x 1 NaN\n# EOF", Reason::NotATimestamp),
        ("x 1 2 3", Reason::TrailingText),
        ("x 1 # half", Reason::NotAnExemplar),
        ("x 1 # {} much", Reason::NotAnExemplar),
        ("x 1 # {} 1 2 3", Reason::TrailingText),
        ("# TYPE", Reason::NotAType),
        ("# TYPE x", Reason::NotAType),
        ("# TYPE x speedometer", Reason::NotAType),
        ("# TYPE x gauge gauge", Reason::NotAType),
    ];
    for (text, reason) in cases {
        assert_eq!(errors(text), [(1, *reason)], "{text}");
        let between = format!("before 1\n{text}\n# TYPE before gauge\nafter 2\n");
        let parsed = parse(&between);
        if !text.contains("EOF") {
            let names: Vec<_> = parsed.samples.iter().map(|s| (s.name, s.line)).collect();
            assert_eq!(names, [("before", 1), ("after", 4)], "{text}");
        }
        assert_eq!(parsed.errors.first().map(|error| error.line), Some(2), "{text}");
    }
}

#[test]
fn comments_and_empty_lines_are_no_errors() {
    let text =
        "\n# \n#\n# just words\n# HELP\n# HELP x what { \"\n# UNIT x seconds\n#TYPE x gauge\n\r\n# EOF";
    let parsed = parse(text);
    assert_eq!((parsed.samples.len(), parsed.errors.as_slice()), (0, [].as_slice()));
    assert_eq!(parsed.kind("x"), Some(Kind::Gauge));
}

#[test]
fn a_web_page_is_an_error_in_every_line() {
    let text = "<!DOCTYPE html>\n<html><head><title>Sign in</title></head>\n<body>5 > 4 {x=\"1\"} 2</body>\n";
    assert_eq!(errors(text), [(1, Reason::NotAName), (2, Reason::NotAName), (3, Reason::NotAName)]);
    assert_eq!(parse(text).samples, []);
}

#[test]
fn a_type_counts_wherever_it_stands_and_for_every_sample_of_its_family() {
    let text = "q_total 1\n# TYPE q counter\n# HELP q queries\nh_bucket{le=\"1\"} 1\n# TYPE h histogram\n\
                # TYPE c_total counter\nc_total 4\n# TYPE g gauge\n# TYPE g gauge\n# TYPE g counter\n";
    let parsed = parse(text);
    let cases = [
        ("q_total", Some(Kind::Counter)),
        ("q_created", Some(Kind::Counter)),
        ("q_bucket", None),
        ("h_bucket", Some(Kind::Histogram)),
        ("h_sum", Some(Kind::Histogram)),
        ("c_total", Some(Kind::Counter)),
        ("g", Some(Kind::Gauge)),
        ("g_total", None),
        ("nowhere", None),
    ];
    for (name, kind) in cases {
        assert_eq!(parsed.kind(name), kind, "{name}");
    }
    assert_eq!(errors(text), [(10, Reason::ConflictingType)]);
}

#[test]
fn carriage_returns_trailing_blanks_and_a_missing_last_line_end() {
    let text = "# TYPE a gauge\r\na{m=\"p\"} 4.0\r\nb 1.0   \r\n\r\nspeed 181,5\r\nc 9.0";
    let parsed = parse(text);
    let values: Vec<_> = parsed.samples.iter().map(|s| (s.name, s.value)).collect();
    assert_eq!(values, [("a", 4.0), ("b", 1.0), ("c", 9.0)]);
    assert_eq!(parsed.kind("a"), Some(Kind::Gauge));
    assert_eq!(errors(text), [(5, Reason::NotANumber)]);
}

#[test]
fn limits_bound_what_is_kept() {
    let limits = Limits { line_bytes: 20, samples: 2, errors: 1 };
    let parsed = parse_within("a 1\n?\n?\nlong{label=\"value value\"} 1\nb 2\nc 3\nd 4\n", limits);
    assert_eq!(parsed.samples.iter().map(|s| s.name).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!((parsed.errors.len(), parsed.error_count), (1, 4));

    let labels: String = (0..129).map(|i| format!("l{i}=\"\",")).collect();
    assert_eq!(errors(&format!("x{{{labels}}} 1")), [(1, Reason::TooManyLabels)]);
}

/// Writes a sample as an exporter would.
fn print(sample: &Sample<'_>) -> String {
    let labels: Vec<String> = sample
        .labels
        .iter()
        .map(|label| {
            let value = label.value.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n");
            format!("{}=\"{value}\"", label.name)
        })
        .collect();
    let time = sample.timestamp_micros.map(|micros| format!(" {}", micros / 1_000)).unwrap_or_default();
    format!("{}{{{}}} {}{time}", sample.name, labels.join(","), sample.value)
}

const LABEL_NAMES: [&str; 4] = ["engine", "model_name", "le", "pod"];

fn any_sample() -> impl Strategy<Value = Sample<'static>> {
    let name = prop::sample::select(vec!["up", "vllm:num_requests_waiting", "_x", "DCGM_FI_DEV_GPU_UTIL"]);
    let values = prop::collection::vec(any::<String>(), 0..LABEL_NAMES.len());
    let timestamp = prop::option::of((-1_000_000_000_000_i64..4_000_000_000_000).prop_map(|ms| ms * 1_000));
    (name, values, any::<f64>(), timestamp).prop_map(|(name, values, value, timestamp_micros)| {
        let labels =
            LABEL_NAMES.iter().zip(values).map(|(name, value)| Label { name, value: value.into() }).collect();
        Sample { name, labels, value, timestamp_micros, line: 1 }
    })
}

proptest! {
    #[test]
    fn what_is_printed_reads_back(sample in any_sample()) {
        let text = print(&sample);
        let read = one(&text);
        prop_assert_eq!(read.value.to_bits(), sample.value.to_bits());
        prop_assert_eq!(Sample { value: 0.0, ..read }, Sample { value: 0.0, ..sample });
    }

    #[test]
    fn a_broken_neighbour_never_loses_a_good_line(
        lines in prop::collection::vec(prop_oneof![
            any_sample().prop_map(|sample| (true, print(&sample))),
            "[^\r\n]{0,40}".prop_map(|noise| (false, format!("?{noise}"))),
            any_sample().prop_flat_map(|sample| {
                let text = print(&sample);
                (0..text.len()).prop_map(move |cut| {
                    let end = (0..=cut).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
                    (false, format!("{}{{", text.get(..end).unwrap_or_default()))
                })
            }),
        ], 0..30)
    ) {
        let text = lines.iter().map(|(_, line)| format!("{line}\n")).collect::<String>();
        let parsed = parse(&text);
        for (index, (good, line)) in lines.iter().enumerate() {
            let found = parsed.samples.iter().any(|sample| sample.line == index + 1);
            let reported = parsed.errors.iter().any(|error| error.line == index + 1);
            prop_assert!(found != reported, "line {} must be read or reported: {}", index + 1, line);
            if *good {
                prop_assert!(found, "lost: {line}");
            }
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
            prop::sample::select(vec!["x", "{", "}", "\"", "\\", ",", "=", "#", " ", "\n", "1", "# TYPE", "é"]),
            0..60,
        )
    ) {
        let text = parts.concat();
        let parsed = parse(&text);
        let lines = text.split('\n').count();
        prop_assert!(parsed.samples.len() + parsed.errors.len() <= lines);
    }
}
