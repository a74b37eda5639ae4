mod print;
mod round_trip;

use crate::{Kind, Limits, Reason, Sample, parse, parse_within};

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
        ("{\"my.name\"} 1", "my.name", &[], 1.0, None),
        (
            "{\"http requests\",\"k8s.pod\"=\"a\" , b=\"c\",} 1",
            "http requests",
            &[("k8s.pod", "a"), ("b", "c")],
            1.0,
            None,
        ),
        ("{a=\"b\", \"时间\"} 1", "时间", &[("a", "b")], 1.0, None),
        ("x{\"\u{e9}\"=\"\"} 1", "x", &[("\u{e9}", "")], 1.0, None),
        ("x{a=\"\t\r\"} 1", "x", &[("a", "\t\r")], 1.0, None),
        ("x 0 -1.5\n# EOF", "x", &[], 0.0, Some(-1_500_000)),
        ("x 0 1.5e3\n# EOF", "x", &[], 0.0, Some(1_500_000_000)),
        ("x 0 1764403360.2500014\n# EOF", "x", &[], 0.0, Some(1_764_403_360_250_001)),
        ("x 0 9223372036854.775807\n# EOF", "x", &[], 0.0, Some(i64::MAX)),
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
        ("\u{b}", Reason::NotAName),
        ("{a=\"b\"} 1", Reason::NotAName),
        ("{} 1", Reason::NotAName),
        ("x-1 5", Reason::NotAName),
        ("x.5 1", Reason::NotAName),
        ("x\u{e9} 1", Reason::NotAName),
        ("\"x\" 1", Reason::NotAName),
        ("x{\"y\"} 1", Reason::SecondName),
        ("{\"x\",\"y\"} 1", Reason::SecondName),
        (r#"{"x\"y"} 1"#, Reason::EscapedName),
        (r#"x{"a\\"="b"} 1"#, Reason::EscapedName),
        ("{\"\"} 1", Reason::NotALabelName),
        ("x{\"\"=\"a\"} 1", Reason::NotALabelName),
        ("{\"x", Reason::UnterminatedLabels),
        ("{\"x\"", Reason::UnterminatedLabels),
        ("{\"error\": \"not found\"}", Reason::NoComma),
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
        ("x 1 99999999999999999999\n# EOF", Reason::NotATimestamp),
        ("x 1 Inf\n# EOF", Reason::NotATimestamp),
        ("x 1 .\n# EOF", Reason::NotATimestamp),
        ("x 1 2 3", Reason::TrailingText),
        ("x 1 # half", Reason::NotAnExemplar),
        ("x 1 # {} much", Reason::NotAnExemplar),
        ("x 1 # {} 1 soon", Reason::NotAnExemplar),
        ("x 1 # {\"x\"} 1", Reason::NotAnExemplar),
        ("x 1 # {} 1 2 3", Reason::TrailingText),
        ("# TYPE", Reason::NotAType),
        ("# TYPE x", Reason::NotAType),
        ("# TYPE x speedometer", Reason::NotAType),
        ("# TYPE x gauge gauge", Reason::NotAType),
        ("# TYPE \"x gauge", Reason::NotAType),
        ("# TYPE x.y gauge", Reason::NotAType),
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

#[test]
fn numbers_are_those_of_the_formats() {
    let read = |word: &str| parse(&format!("x {word}")).samples.first().map(|sample| sample.value.to_bits());
    for word in [
        "0",
        "-0",
        "+1",
        "1.",
        ".5",
        "-.5",
        "00012.50",
        "1e3",
        "1E+3",
        "2.5e-324",
        "0.1",
        "0.30000000000000004",
    ] {
        assert_eq!(read(word), Some(word.parse::<f64>().unwrap().to_bits()), "{word}");
    }
    for digits in ["123456789012345", "999999999999999", "9007199254740993", "99999999999999999999"] {
        for point in 0..=digits.len() {
            let (whole, fraction) = digits.split_at(point);
            let word = format!("{whole}.{fraction}");
            assert_eq!(read(&word), Some(word.parse::<f64>().unwrap().to_bits()), "{word}");
        }
    }
    for word in ["inf", "+INF", "Infinity", "+infinity"] {
        assert_eq!(read(word), Some(f64::INFINITY.to_bits()), "{word}");
    }
    assert_eq!(read("-iNF"), Some(f64::NEG_INFINITY.to_bits()));
    for word in ["nan", "NaN", "NAN"] {
        assert!(one(&format!("x {word}")).value.is_nan(), "{word}");
    }
    for word in [
        "+NaN", "-nan", "1e999", "-1e999", "0x10", "0x1p4", "1_000", ".", "-", "e5", "1e", "1f", "1,5",
        "--1", "1.2.3", "١",
    ] {
        assert_eq!(errors(&format!("x {word}")), [(1, Reason::NotANumber)], "{word}");
    }
}

#[test]
fn what_follows_an_early_eof_is_read_and_the_eof_reported() {
    let parsed = parse("a 1 1.5\n# EOF\n\nb 2 2.5\n# EOF\n# TYPE c gauge\nc 3\n# EOF\n\r\n");
    let read: Vec<_> = parsed.samples.iter().map(|s| (s.name, s.timestamp_micros)).collect();
    assert_eq!(read, [("a", Some(1_500_000)), ("b", Some(2_500_000)), ("c", None)]);
    let reported: Vec<_> = parsed.errors.iter().map(|error| (error.line, error.reason)).collect();
    assert_eq!(reported, [(2, Reason::EofBeforeEnd), (5, Reason::EofBeforeEnd)]);
    assert_eq!(parsed.kind("c"), Some(Kind::Gauge));
    assert_eq!(errors("a 1 1\n#EOF\n# EOF of a file\n#  EOF\nb 1"), []);
}

#[test]
fn a_family_with_a_quoted_name_has_its_type() {
    let parsed = parse("# TYPE \"http.requests\" counter\n{\"http.requests_total\"} 1\n");
    assert_eq!(parsed.kind("http.requests_total"), Some(Kind::Counter));
    assert_eq!(parsed.error_count, 0);
}

#[test]
fn series_and_comments_that_are_there_twice() {
    let parsed =
        parse("# HELP x a\n# HELP x b\n# TYPE x summary\n# TYPE x summary\nx{a=\"1\"} 1\nx{a=\"1\"} 2\n");
    assert_eq!(parsed.samples.iter().map(|sample| sample.value).collect::<Vec<_>>(), [1.0, 2.0]);
    assert_eq!(
        (parsed.error_count, parsed.kind("x_sum"), parsed.kind("x_bucket")),
        (0, Some(Kind::Summary), None)
    );
}
