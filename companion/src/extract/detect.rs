//! Which engine a scrape is of.

use super::{ENGINES, EngineTable, families::Families};

/// The engine whose metrics are in the scrape: the one that most of its rows can be read of. The names of all others
/// that fit too, for people.
pub(super) fn detect(families: &Families<'_>) -> Option<(&'static EngineTable, Vec<&'static str>)> {
    let readable = |table: &EngineTable| {
        let is_there = |metric: &&str| !families.series(table.prefix, metric).is_empty();
        table.rows.iter().filter(|row| row.from.metrics().iter().any(is_there)).count()
    };
    let fitting: Vec<(usize, &EngineTable)> =
        ENGINES.iter().map(|table| (readable(table), table)).filter(|(rows, _)| *rows > 0).collect();
    // Of equals the first.
    let best = fitting.iter().rev().max_by_key(|(rows, _)| *rows)?.1;
    let others = fitting.iter().map(|(_, table)| table.name).filter(|name| *name != best.name);
    Some((best, others.collect()))
}
