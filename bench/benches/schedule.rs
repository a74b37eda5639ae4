//! How long a decision takes, and with its JSON for the access log.

use std::hint::black_box;

use anyhow::Result;
use criterion::{BenchmarkId, Criterion};
use headroom_bench::cost::{SIZES, Work, profiles};

fn main() -> Result<()> {
    let mut criterion = Criterion::default().configure_from_args();
    for (profile, _) in profiles() {
        for &endpoints in SIZES {
            let work = Work::new(profile, endpoints)?;
            let mut seed = 0_u64;
            let mut next = || {
                seed = seed.wrapping_add(1);
                seed
            };
            criterion.bench_with_input(
                BenchmarkId::new(format!("schedule/{profile}"), endpoints),
                &work,
                |bencher, work| bencher.iter(|| black_box(work.schedule(next()))),
            );
            criterion.bench_with_input(
                BenchmarkId::new(format!("explain/{profile}"), endpoints),
                &work.schedule(0),
                |bencher, schedule| bencher.iter(|| black_box(work.explain(schedule, 0))),
            );
        }
    }
    criterion.final_summary();
    Ok(())
}
