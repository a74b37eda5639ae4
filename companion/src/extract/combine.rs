//! Several sources of one endpoint (ranks, GPUs) become one value.

use headroom_datalayer::{Combine, Sample, Timestamp, Value, attribute_info};

/// What one source says of an attribute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cell {
    /// A possible value, and when it was measured.
    Value(f64, Timestamp),
    /// The source has the metric, but no usable value.
    Invalid,
}

/// Combines the sources by the attribute's rule. A source without a usable value leaves a maximum,
/// minimum or mean to the others, but a sum that lacks a part is not the sum: it is missing. The
/// result is as old as its oldest part.
pub(crate) fn combine(attribute: &str, cells: impl IntoIterator<Item = Cell>) -> Option<Sample> {
    combine_by(attribute_info(attribute).map_or(Combine::Latest, |info| info.combine), cells)
}

/// Combines the sources by a rule, as above.
pub(crate) fn combine_by(rule: Combine, cells: impl IntoIterator<Item = Cell>) -> Option<Sample> {
    let mut values: Vec<(f64, Timestamp)> = Vec::new();
    for cell in cells {
        match cell {
            Cell::Value(value, at) => values.push((value, at)),
            Cell::Invalid if rule == Combine::Sum => return None,
            Cell::Invalid => {}
        }
    }
    let oldest = values.iter().map(|(_, at)| *at).min()?;
    let numbers = values.iter().map(|(value, _)| *value);
    let (number, measured_at) = match rule {
        Combine::Sum => (numbers.sum(), oldest),
        Combine::Mean => (mean(numbers)?, oldest),
        Combine::Max => (numbers.reduce(f64::max)?, oldest),
        Combine::Min => (numbers.reduce(f64::min)?, oldest),
        Combine::BitOr => (bit_or(numbers), oldest),
        // Of names; there is no such thing as a union of numbers.
        Combine::Union => return None,
        Combine::Latest => values.iter().copied().max_by_key(|(_, at)| *at)?,
    };
    Some(Sample { value: Value::number(number)?, measured_at })
}

fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = numbers.fold((0.0, 0_u32), |(sum, count), number| (sum + number, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

fn bit_or(numbers: impl Iterator<Item = f64>) -> f64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "masks are whole numbers, none is negative, and the cast saturates"
    )]
    let mask = numbers.fold(0_u64, |mask, number| mask | number as u64);
    #[expect(clippy::cast_precision_loss, reason = "masks in use have fewer than 53 bits")]
    let mask = mask as f64;
    mask
}
