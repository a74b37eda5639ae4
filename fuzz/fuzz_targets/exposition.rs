//! Any text is read without a panic, every line is read or reported, and what was read reads back the same
//! from what is written of it.
//!
//! `scripts/fuzz.sh` runs it.

#![no_main]

use headroom_exposition::{Limits, Sample, parse, parse_within};
use libfuzzer_sys::fuzz_target;

#[path = "../../crates/exposition/src/tests/print.rs"]
mod print;

fuzz_target!(|text: &str| {
    let parsed = parse(text);
    let lines: Vec<&str> = text.split('\n').collect();
    assert!(parsed.errors.len() == parsed.error_count.min(Limits::default().errors));
    assert!(parsed.samples.is_sorted_by(|a, b| a.line < b.line));
    assert!(parsed.errors.is_sorted_by(|a, b| a.line < b.line));
    for line in parsed.samples.iter().map(|s| s.line).chain(parsed.errors.iter().map(|e| e.line)) {
        assert!(
            lines
                .get(line.wrapping_sub(1))
                .is_some_and(|line| !line.trim_matches([' ', '\t', '\r']).is_empty())
        );
    }
    let is_reported = |line: usize| parsed.errors.iter().any(|error| error.line == line);
    for sample in &parsed.samples {
        assert!(!is_reported(sample.line), "line {} is read and reported", sample.line);
    }

    let written: String = parsed.samples.iter().map(|sample| print::print(sample) + "\r\n").collect();
    let written = written + "# EOF\n";
    let again = parse_within(&written, Limits { line_bytes: usize::MAX, ..Limits::default() });
    assert_eq!(again.errors, []);
    assert_eq!(again.samples.len(), parsed.samples.len());
    for (before, after) in parsed.samples.iter().zip(again.samples) {
        assert!(before.value.to_bits() == after.value.to_bits(), "{before:?} {after:?}");
        let placed = Sample { line: before.line, value: 0.0, ..after };
        assert_eq!(placed, Sample { value: 0.0, ..before.clone() });
    }
});
