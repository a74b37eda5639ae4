//! Envoy's `/stats` as numbers.

use std::collections::BTreeMap;

/// Counters and gauges by name.
#[derive(Clone, Debug, Default)]
pub struct Stats(BTreeMap<String, i64>);

impl Stats {
    /// Reads `name: number` lines; others are left out.
    pub fn parse(text: &str) -> Self {
        let line = |line: &str| {
            let (name, value) = line.rsplit_once(": ")?;
            Some((name.trim_start_matches("wasmcustom.").to_owned(), value.parse().ok()?))
        };
        Self(text.lines().filter_map(line).collect())
    }

    /// The number of that name, 0 if there is none.
    pub fn get(&self, name: &str) -> i64 {
        self.0.get(name).copied().unwrap_or_default()
    }

    /// The sum over all names that start with `prefix`.
    pub fn sum(&self, prefix: &str) -> i64 {
        self.starting_with(prefix).map(|(_, value)| value).sum()
    }

    /// All names that start with `prefix`.
    pub fn starting_with<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, i64)> {
        self.0
            .iter()
            .filter(move |(name, _)| name.starts_with(prefix))
            .map(|(name, value)| (name.as_str(), *value))
    }
}
