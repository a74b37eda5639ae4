//! An explanation for people to read.

use std::fmt;

use super::{Explanation, FallbackUsed, Outcome, ProfileExplanation, ScorePart, ScoredEndpoint};
use crate::reading::rounded;
use crate::{Reason, Unmeasured};

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (pool, age) = (&self.pool, self.snapshot_age_ms);
        match &self.main.outcome {
            Outcome::Rejected(reason) => writeln!(f, "Pool {pool}: rejected, {reason}.")?,
            Outcome::Chosen(_) => writeln!(f, "Pool {pool}: chose {}.", self.main.chosen())?,
        }
        writeln!(f, "{} endpoints known, last update {age} ms before.", self.endpoints)?;
        write!(f, "{}", self.main)?;
        for stage in &self.stages {
            match &stage.outcome {
                Outcome::Rejected(reason) => {
                    writeln!(f, "Stage {}: left out, {reason}.", stage.profile)?;
                }
                Outcome::Chosen(_) => writeln!(f, "Stage {}: chose {}.", stage.profile, stage.chosen())?,
            }
            write!(f, "{stage}")?;
        }
        Ok(())
    }
}

impl ProfileExplanation {
    /// The choice and where to retry, each once.
    fn chosen(&self) -> String {
        let Outcome::Chosen(addresses) = &self.outcome else { return String::new() };
        let mut shown: Vec<&str> = Vec::new();
        for address in addresses {
            if !shown.contains(&address.as_str()) {
                shown.push(address);
            }
        }
        let Some((choice, rest)) = shown.split_first() else { return String::new() };
        let name = self.candidates.iter().find(|c| c.endpoint == *choice).map(|c| &c.name);
        let name = name.map(|name| format!("{name} at ")).unwrap_or_default();
        let retries =
            if rest.is_empty() { String::new() } else { format!("; for retries {}", rest.join(", ")) };
        format!("{name}{choice}{retries}")
    }
}

impl fmt::Display for ProfileExplanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.profile.is_empty() {
            return Ok(());
        }
        writeln!(f, "Profile {}:", self.profile)?;
        for excluded in &self.excluded {
            writeln!(f, "  left out  {} ({}): {}", excluded.name, excluded.filter, excluded.reason)?;
        }
        for passed in &self.undecided {
            writeln!(f, "  passed    {} ({}): {}", passed.name, passed.filter, passed.reason)?;
        }
        for fallback in &self.fallbacks {
            writeln!(f, "  {fallback}")?;
        }
        if !self.tied.is_empty() {
            writeln!(
                f,
                "  tie       chance chose between equal totals; the others: {}",
                self.tied.join(", ")
            )?;
        }
        for candidate in self.candidates.iter().filter(|candidate| !candidate.grounds.is_empty()) {
            write!(f, "  may serve {}:", candidate.name)?;
            for (index, ground) in candidate.grounds.iter().enumerate() {
                let separator = if index == 0 { " " } else { "; " };
                write!(f, "{separator}{} ({}: {})", ground.value, ground.filter, ground.constraint)?;
            }
            writeln!(f)?;
        }
        table(&self.candidates, f)?;
        if self.not_shown > 0 {
            writeln!(f, "  and {} more endpoints", self.not_shown)?;
        }
        Ok(())
    }
}

impl fmt::Display for FallbackUsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { filter, rule, kept, finding } = self;
        match (finding, kept.as_slice()) {
            (Some(finding), kept) => write!(f, "probe     {} ({filter}): {finding}", kept.join(", ")),
            (None, []) => write!(f, "fallback  {filter}: {rule}, so it did not apply"),
            (None, kept) => {
                write!(f, "fallback  {filter}: nobody met it, so the {rule} serve: {}", kept.join(", "))
            }
        }
    }
}

/// One line an endpoint, one column a scorer; the best first.
fn table(candidates: &[ScoredEndpoint], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Some(first) = candidates.first() else { return Ok(()) };
    let mut heading = vec!["endpoint".to_owned(), "total".to_owned()];
    heading.extend(first.scores.iter().map(|part| format!("{} x{}", part.scorer, part.weight)));
    let mut rows = vec![heading];
    for candidate in candidates {
        let mut row =
            vec![format!("{} {}", candidate.name, candidate.endpoint), format!("{:.3}", candidate.total)];
        row.extend(candidate.scores.iter().map(ToString::to_string));
        rows.push(row);
    }
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in &rows {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        writeln!(f, "  {}", cells.join("  ").trim_end())?;
    }
    Ok(())
}

impl fmt::Display for ScorePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.missing, &self.said, self.value) {
            (Some(words), ..) | (None, Some(words), _) => write!(f, "{words}")?,
            (None, None, Some(value)) => write!(f, "{value}")?,
            (None, None, None) => write!(f, "no value")?,
        }
        if self.sent_since > 0 {
            write!(f, " + {} sent since", self.sent_since)?;
        }
        if let Some(age) = self.age_ms {
            write!(f, ", {age} ms old")?;
        }
        write!(f, " -> {:.3}", self.score)?;
        if (self.weighted - self.score).abs() > 0.0 {
            write!(f, " -> {:.3}", self.weighted)?;
        }
        Ok(())
    }
}

impl fmt::Display for Unmeasured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("never measured"),
            Self::Stale { age } => write!(f, "stale, measured {age} ago"),
            Self::FutureDated => f.write_str("dated in the future"),
            Self::NotANumber => f.write_str("not of the kind that is needed"),
            Self::Impossible => f.write_str("not a value that it can have"),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Labels { requirement } => write!(f, "its labels do not meet {requirement}"),
            Self::Limit { attribute, value, sent_since, wanted, age } => {
                write!(f, "{attribute} is {}", rounded(*value))?;
                if *sent_since > 0 {
                    write!(f, " with {sent_since} sent since")?;
                }
                write!(f, ", wanted {wanted}")?;
                age.map_or(Ok(()), |age| write!(f, ", measured {age} ago"))
            }
            Self::Unmeasured { attribute, why } => write!(f, "{attribute} is missing: {why}"),
            Self::Model { model } => write!(f, "it does not serve {model}"),
            Self::Unavailable { how } => write!(f, "it {how}"),
            Self::NotPreferred { why } => f.write_str(why),
        }
    }
}
