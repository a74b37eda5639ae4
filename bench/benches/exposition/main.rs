//! How fast a scrape is read, by this crate and by others that read the same text correctly:
//! `cargo bench -p headroom-bench --bench exposition`.
//!
//! The readers take turns, so that whatever else the machine does hits all of them, and what counts is the
//! median ratio within a turn. A crate that reads the text otherwise is named and not measured.

mod readers;
mod scrape;

use std::hint::black_box;
use std::io::Write as _;
use std::time::Instant;

use anyhow::{Context as _, Result};
use readers::{Content, READERS, Reader};
use scrape::scrape;

const LINES: usize = 5_000;
const TURNS: usize = 100;
/// Readings in one turn.
const TIMES: usize = 3;

fn main() -> Result<()> {
    let mut out = std::io::stdout().lock();
    let text = scrape(1, LINES);
    let expected = expected(&text);
    let mut correct = Vec::new();
    writeln!(out, "{LINES} lines, {} bytes, {} values", text.len(), expected.values)?;
    for reader in READERS {
        match (reader.content)(&text) {
            Some(content) if is_right(content, expected) => correct.push(reader),
            found => {
                writeln!(out, "{} does not read it correctly: {found:?}, expected {expected:?}", reader.name)?
            }
        }
    }
    let seconds: Vec<Vec<f64>> =
        (0..TURNS).map(|_| correct.iter().map(|reader| time(reader, &text)).collect()).collect();
    writeln!(out, "| crate | MB/s | its time in ours |\n| --- | ---: | ---: |")?;
    for (index, reader) in correct.iter().enumerate() {
        let column = |of: fn(f64, f64) -> f64| -> Vec<f64> {
            seconds.iter().filter_map(|turn| Some(of(*turn.get(index)?, *turn.first()?))).collect()
        };
        let median_seconds = median(column(|own, _| own)).context("no turns")?;
        let ratio = median(column(|own, ours| own / ours)).context("no turns")?;
        writeln!(out, "| {} | {:.0} | {ratio:.1} |", reader.name, text.len() as f64 / median_seconds / 1e6)?;
    }
    Ok(())
}

/// The content by the plainest means: the last word of every line that is no comment.
fn expected(text: &str) -> Content {
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    let values = samples.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok());
    let (mut count, mut sum) = (0, 0.0);
    for value in values {
        count += 1;
        sum += if value.is_finite() { value } else { 0.0 };
    }
    Content { values: count, sum, escaped: 1 }
}

/// Readers that group their samples add them up in another order.
fn is_right(content: Content, expected: Content) -> bool {
    let same_sum = (content.sum - expected.sum).abs() <= expected.sum.abs() * 1e-9;
    same_sum && (content.values, content.escaped) == (expected.values, expected.escaped)
}

fn time(reader: &Reader, text: &str) -> f64 {
    let start = Instant::now();
    for _ in 0..TIMES {
        black_box((reader.run)(black_box(text)));
    }
    start.elapsed().as_secs_f64() / TIMES as f64
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
