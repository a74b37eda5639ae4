//! What comment lines say about a metric family.

use std::collections::BTreeMap;

use crate::{Reason, braces::read_quoted_name, cursor::Cursor};

/// The declared type of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A total that only grows.
    Counter,
    /// A value that goes up and down.
    Gauge,
    /// Observations counted in buckets.
    Histogram,
    /// A histogram whose buckets go up and down.
    GaugeHistogram,
    /// Observations as quantiles.
    Summary,
    /// Facts in labels.
    Info,
    /// A set of states, each on or off.
    StateSet,
    /// Declared, but without a meaning: `untyped` or `unknown`.
    Unknown,
}

impl Kind {
    fn from_text(text: &str) -> Option<Self> {
        Some(match text {
            "counter" => Self::Counter,
            "gauge" => Self::Gauge,
            "histogram" => Self::Histogram,
            "gaugehistogram" => Self::GaugeHistogram,
            "summary" => Self::Summary,
            "info" => Self::Info,
            "stateset" => Self::StateSet,
            "unknown" | "untyped" => Self::Unknown,
            _ => return None,
        })
    }

    /// The type as a `# TYPE` line spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
            Self::GaugeHistogram => "gaugehistogram",
            Self::Summary => "summary",
            Self::Info => "info",
            Self::StateSet => "stateset",
            Self::Unknown => "unknown",
        }
    }

    /// What a family of this type appends to its name for its samples.
    fn suffixes(self) -> &'static [&'static str] {
        match self {
            Self::Counter => &["_total", "_created"],
            Self::Histogram => &["_bucket", "_count", "_sum", "_created"],
            Self::Summary => &["_count", "_sum", "_created"],
            Self::GaugeHistogram => &["_bucket", "_gcount", "_gsum"],
            Self::Info => &["_info"],
            Self::Gauge | Self::StateSet | Self::Unknown => &[],
        }
    }
}

/// The declared types by family name.
pub(crate) type Families<'a> = BTreeMap<&'a str, Kind>;

/// Reads what follows the `#` of a comment line. Comments that declare nothing are skipped.
pub(crate) fn read_comment<'a>(mut rest: Cursor<'a>, families: &mut Families<'a>) -> Result<(), Reason> {
    rest.skip_blanks();
    if rest.take_word() != "TYPE" {
        return Ok(());
    }
    rest.skip_blanks();
    let name = if rest.eat(b'"') { read_quoted_name(&mut rest).ok().flatten() } else { rest.take_name() };
    let name = name.ok_or(Reason::NotAType)?;
    rest.skip_blanks();
    let kind = Kind::from_text(rest.take_word()).ok_or(Reason::NotAType)?;
    rest.skip_blanks();
    if !rest.is_empty() {
        return Err(Reason::NotAType);
    }
    match families.insert(name, kind) {
        Some(known) if known != kind => {
            families.insert(name, known);
            Err(Reason::ConflictingType)
        }
        _ => Ok(()),
    }
}

/// The type of the family that the sample called `name` belongs to.
pub(crate) fn kind_of(families: &Families<'_>, name: &str) -> Option<Kind> {
    if let Some(kind) = families.get(name) {
        return Some(*kind);
    }
    let at = name.rfind('_')?;
    let (family, suffix) = name.split_at_checked(at)?;
    families.get(family).copied().filter(|kind| kind.suffixes().contains(&suffix))
}
