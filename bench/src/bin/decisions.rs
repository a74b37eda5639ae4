//! `decisions SEED COUNT`: prints random decisions, one a line, to the last bit.
//!
//! The same arguments print the same lines on every target; `tests/rules/determinism.rs` compares them.

use std::io::Write as _;

use anyhow::Context as _;
use headroom_bench::{config, dice::Dice, known, line, pool, request};
use headroom_scheduling::{Context, Effect, Schedule};

fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    let mut number = || args.next().and_then(|text| text.parse().ok()).context("usage: decisions SEED COUNT");
    let (seed, count): (u64, u64) = (number()?, number()?);
    let mut dice = Dice::new(seed);
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut done = 0;
    while done < count {
        let drawn = config::random(&mut dice)?;
        let spec = config::compile(&drawn.pool)?;
        let snapshot = pool::random(&mut dice)?;
        let known = known::random(&mut dice, &snapshot);
        let mut request = request::random(&mut dice);
        // The second request brings the session token that the first was answered with.
        for _ in 0..2 {
            let seed = dice.bits();
            let cx = Context {
                request: &request,
                snapshot: &snapshot,
                local: known.local(),
                peer: None,
                now: pool::NOW,
                seed,
            };
            let schedule = spec.scheduler.schedule(&cx);
            let words = line::describe(&schedule, &spec.scheduler, &cx)?;
            writeln!(out, "{done} types={} {words}", drawn.types.join(","))?;
            done += 1;
            let Some((name, token)) = session_token(&schedule).filter(|_| done < count) else { break };
            request.headers.insert(name, token);
        }
    }
    out.flush()?;
    Ok(())
}

fn session_token(schedule: &Schedule) -> Option<(String, String)> {
    schedule.effects.iter().find_map(|effect| match effect {
        Effect::ResponseHeader { name, value } => Some((name.clone(), value.clone())),
        Effect::RequestHeader { .. } | Effect::Pin { .. } | Effect::ColdPick { .. } => None,
    })
}
