//! `cost WHAT PROFILE ENDPOINTS TIMES`: does the same work TIMES times, for whoever counts instructions.
//! WHAT is `schedule` (decisions), or `explain` (decisions and the JSON of each).
//!
//! What starting and setting up cost is in every run: the difference between two runs is the work.

use std::hint::black_box;

use anyhow::{Context as _, bail};
use headroom_bench::cost::Work;

fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    let mut next = || args.next().context("usage: cost schedule|explain PROFILE ENDPOINTS TIMES");
    let (what, profile, endpoints, times) = (next()?, next()?, next()?, next()?);
    let explain = match what.as_str() {
        "schedule" => false,
        "explain" => true,
        _ => bail!("{what} is neither schedule nor explain"),
    };
    let work = Work::new(&profile, endpoints.parse()?)?;
    for seed in 0..times.parse()? {
        let schedule = black_box(work.schedule(seed));
        if explain {
            black_box(work.explain(&schedule, seed)?);
        }
    }
    Ok(())
}
