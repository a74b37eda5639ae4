//! From outcomes to figures.

use std::{collections::BTreeMap, time::Duration};

use serde::Serialize;

use super::Outcome;

/// The figures of one run. Times in milliseconds.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Requests sent.
    pub requests: usize,
    /// Of these, how many were not answered in full.
    pub errors: usize,
    /// Time to first token, median.
    pub ttft_p50_ms: f64,
    /// Time to first token, 95th percentile.
    pub ttft_p95_ms: f64,
    /// Whole response, median.
    pub e2e_p50_ms: f64,
    /// Whole response, 95th percentile.
    pub e2e_p95_ms: f64,
    /// Fraction of the answered requests by endpoint.
    pub share: BTreeMap<String, f64>,
    /// How late the generator itself was, 99th percentile.
    pub lateness_p99_ms: f64,
}

impl Report {
    /// Sums outcomes up. `endpoints` are shown with share 0 when they served nothing.
    pub fn new(outcomes: &[Outcome], endpoints: &[String]) -> Self {
        let answered = || outcomes.iter().filter(|outcome| outcome.error.is_none());
        let ttft = || answered().filter_map(|outcome| outcome.time_to_first_token);
        let total = answered().count();
        let mut share: BTreeMap<String, f64> = endpoints.iter().map(|name| (name.clone(), 0.0)).collect();
        for outcome in answered() {
            *share.entry(outcome.served_by.clone()).or_default() += 1.0 / as_f64(total);
        }
        Self {
            requests: outcomes.len(),
            errors: outcomes.len() - total,
            ttft_p50_ms: percentile(ttft(), 0.50),
            ttft_p95_ms: percentile(ttft(), 0.95),
            e2e_p50_ms: percentile(answered().map(|outcome| outcome.end_to_end), 0.50),
            e2e_p95_ms: percentile(answered().map(|outcome| outcome.end_to_end), 0.95),
            share,
            lateness_p99_ms: percentile(outcomes.iter().map(|outcome| outcome.lateness), 0.99),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of requests are far below 2^52")]
fn as_f64(count: usize) -> f64 {
    count as f64
}

/// The smallest time that at least this share of the times do not exceed (nearest rank); 0 of none.
fn percentile(times: impl Iterator<Item = Duration>, share: f64) -> f64 {
    let mut millis: Vec<f64> = times.map(|time| time.as_secs_f64() * 1_000.0).collect();
    millis.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rank between 0 and the count"
    )]
    let rank = (as_f64(millis.len()) * share).ceil() as usize;
    millis.get(rank.saturating_sub(1)).map_or(0.0, |ms| (ms * 10.0).round() / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_ranks() {
        let times = |n: u64| (1..=n).map(Duration::from_millis);
        for (n, share, want) in
            [(100, 0.50, 50.0), (100, 0.95, 95.0), (1, 0.95, 1.0), (2, 0.5, 1.0), (0, 0.5, 0.0)]
        {
            assert!((percentile(times(n), share) - want).abs() < 1e-9, "{share} of {n}");
        }
    }
}
