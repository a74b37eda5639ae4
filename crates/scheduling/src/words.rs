//! An explanation for people to read.

use std::fmt;

use crate::Explanation;
use crate::explanation::{Outcome, ScorePart, ScoredEndpoint};

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pool = &self.pool;
        let age = self.snapshot_age_ms;
        match &self.outcome {
            Outcome::Rejected(reason) => writeln!(f, "Pool {pool}: rejected, {reason}.")?,
            Outcome::Chosen(addresses) => {
                let mut shown: Vec<&str> = Vec::new();
                for address in addresses {
                    if !shown.contains(&address.as_str()) {
                        shown.push(address);
                    }
                }
                let mut shown = shown.into_iter();
                let choice = shown.next().unwrap_or_default();
                write!(f, "Pool {pool}: chose {}{choice}", self.name_of(choice))?;
                let rest: Vec<&str> = shown.collect();
                if !rest.is_empty() {
                    write!(f, "; for retries {}", rest.join(", "))?;
                }
                writeln!(f, ".")?;
            }
        }
        writeln!(
            f,
            "Profile {}, {} endpoints known, last update {age} ms before.",
            self.profile, self.endpoints
        )?;
        for excluded in &self.excluded {
            writeln!(f, "  left out  {} ({}): {}", excluded.name, excluded.filter, excluded.reason)?;
        }
        for passed in &self.undecided {
            writeln!(f, "  passed    {} ({}): {}", passed.name, passed.filter, passed.reason)?;
        }
        for fallback in &self.fallbacks {
            match fallback.kept.as_slice() {
                [] => writeln!(f, "  fallback  {}: {}, so it did not apply", fallback.filter, fallback.rule)?,
                kept => writeln!(
                    f,
                    "  fallback  {}: nobody met it, so the {} serve: {}",
                    fallback.filter,
                    fallback.rule,
                    kept.join(", ")
                )?,
            }
        }
        for candidate in &self.candidates {
            writeln!(f, "  {candidate}")?;
        }
        if self.not_shown > 0 {
            writeln!(f, "  and {} more endpoints", self.not_shown)?;
        }
        Ok(())
    }
}

impl Explanation {
    fn name_of(&self, address: &str) -> String {
        let scored = self.candidates.iter().find(|c| c.endpoint == address).map(|c| &c.name);
        scored.map(|name| format!("{name} at ")).unwrap_or_default()
    }
}

impl fmt::Display for ScoredEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}  {}", self.total, self.name)?;
        for (index, part) in self.scores.iter().enumerate() {
            write!(f, "{}{part}", if index == 0 { " = " } else { " + " })?;
        }
        Ok(())
    }
}

impl fmt::Display for ScorePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:.3} (", self.scorer, self.weighted)?;
        match (&self.missing, self.value) {
            (Some(why), _) => write!(f, "{why}")?,
            (None, Some(value)) => write!(f, "{value}")?,
            (None, None) => write!(f, "no value")?,
        }
        if self.sent_since > 0 {
            write!(f, " + {} sent since", self.sent_since)?;
        }
        if let Some(age) = self.age_ms {
            write!(f, ", {age} ms old")?;
        }
        f.write_str(")")
    }
}
