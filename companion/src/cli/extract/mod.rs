//! `headroom extract`: what the companion derives from scrapes, what it ignores, and why.

mod derive;
mod endpoints;
mod expect;
mod show;
mod source;

use std::path::{Path, PathBuf};

use super::{Answer, FAULTS, UNREADABLE, read_text};
use crate::{clock, extract};
use endpoints::Named;

/// Arguments of `headroom extract`.
#[derive(Debug, clap::Args)]
#[command(override_usage = "headroom extract [--engine NAME] [--endpoints FILE] [--json] SCRAPE...\n       \
                      headroom extract --expect FILE|FOLDER [--engine NAME] [--json] [SCRAPE]")]
pub(crate) struct Args {
    /// Saved scrapes, URLs, or - for stdin.
    #[arg(value_name = "SCRAPE", required_unless_present = "expect")]
    scrapes: Vec<String>,
    /// Which engine the scrapes are of; auto finds out.
    #[arg(long, value_name = "NAME", default_value = "auto")]
    engine: String,
    /// Whose values to look for: a companion's config, a file of endpoints, or a file of expected values. Default: in the
    /// scrape of an engine the one endpoint "self", in that of a GPU exporter every pod, job and card that it names.
    #[arg(long, value_name = "FILE", conflicts_with = "expect")]
    endpoints: Option<PathBuf>,
    /// Compare with a file of expected values, and print both; of a folder, with each NAME.expect.json and NAME.prom
    /// in it. Any difference is a failure.
    #[arg(long, value_name = "FILE")]
    expect: Option<PathBuf>,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
}

/// Derives and shows.
pub(crate) async fn run(args: Args) -> Answer {
    match answer(&args).await {
        Ok(answer) | Err(answer) => answer,
    }
}

async fn answer(args: &Args) -> Result<Answer, Answer> {
    let engine = match args.engine.as_str() {
        "auto" => None,
        name => Some(extract::engine(name).ok_or_else(|| unknown_engine(name))?),
    };
    if let Some(expected) = &args.expect {
        return compare(args, expected, engine).await;
    }
    let endpoints = match &args.endpoints {
        Some(path) => Some(endpoints::read(path, &read_text(path)?)?),
        None => None,
    };
    let mut derived = Vec::new();
    for scrape in &args.scrapes {
        let text = source::read(scrape).await?;
        derived.push(derive::derive(scrape, &text, engine, endpoints.as_deref(), clock::now()));
    }
    let code = if derived.iter().all(derive::Derived::is_of_use) { 0 } else { FAULTS };
    let stdout = if args.json { show::json(&derived) } else { show::text(&derived) };
    Ok(Answer { stdout, code, ..Answer::default() })
}

async fn compare(
    args: &Args,
    path: &Path,
    engine: Option<&'static extract::EngineTable>,
) -> Result<Answer, Answer> {
    let pairs = match args.scrapes.as_slice() {
        [] => source::pairs(path)?,
        [scrape] if !path.is_dir() => vec![(path.to_owned(), scrape.clone())],
        _ => {
            let words = "--expect takes one file of expected values with one scrape, or a folder alone";
            return Err(Answer::failed(UNREADABLE, words.to_owned()));
        }
    };
    let mut comparisons = Vec::new();
    for (expected, scrape) in pairs {
        let expected = expect::read(&expected, &read_text(&expected)?)?;
        let text = source::read(&scrape).await?;
        let endpoints: Vec<Named> = expected.endpoints(engine);
        let derived = derive::derive(&scrape, &text, engine, Some(&endpoints), clock::now());
        comparisons.push(expect::compare(&expected, &derived));
    }
    let code = if comparisons.iter().all(expect::Comparison::is_equal) { 0 } else { FAULTS };
    let stdout = if args.json { expect::json(&comparisons) } else { expect::text(&comparisons) };
    Ok(Answer { stdout, code, ..Answer::default() })
}

fn unknown_engine(name: &str) -> Answer {
    let known: Vec<&str> = extract::ENGINES.iter().map(|table| table.name).collect();
    Answer::failed(
        UNREADABLE,
        format!("--engine {name}: no engine known here; known: auto, {}", known.join(", ")),
    )
}
