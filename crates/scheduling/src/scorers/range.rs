//! From values to scores: where a value lies in a range.

use crate::Score;

/// Which end of the range is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    LowerIsBetter,
    HigherIsBetter,
}

/// The range that values are placed in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Range {
    /// From the smallest to the largest value there is.
    Adaptive,
    /// `min < max`, both finite; values outside count as at the end.
    Fixed { min: f64, max: f64 },
}

/// One score for each value; `None` stays `None`. With an adaptive range the best value scores 1 and
/// the worst 0, and equal values all score 1: as llm-d's scorers do.
pub(crate) fn place(values: &[Option<f64>], range: Range, direction: Direction) -> Vec<Option<Score>> {
    let known = || values.iter().flatten().copied();
    let (min, max) = match range {
        Range::Fixed { min, max } => (min, max),
        Range::Adaptive => (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max)),
    };
    let score = |value: f64| {
        if min >= max {
            return Score::BEST;
        }
        // Halved, so that the width of a range over the whole of f64 stays finite.
        let share = ((value / 2.0 - min / 2.0) / (max / 2.0 - min / 2.0)).clamp(0.0, 1.0);
        Score::new(match direction {
            Direction::LowerIsBetter => 1.0 - share,
            Direction::HigherIsBetter => share,
        })
    };
    values.iter().map(|value| value.map(score)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    fn scores(values: &[Option<f64>], range: Range, direction: Direction) -> Vec<Option<f64>> {
        place(values, range, direction).into_iter().map(|score| score.map(Score::get)).collect()
    }

    #[test]
    fn adaptive_and_fixed_ranges() {
        use Direction::{HigherIsBetter, LowerIsBetter};
        let fixed = Range::Fixed { min: 0.0, max: 10.0 };
        let some = |v: &[f64]| v.iter().copied().map(Some).collect::<Vec<_>>();
        let cases = [
            (some(&[10.0, 5.0, 0.0]), Range::Adaptive, LowerIsBetter, some(&[0.0, 0.5, 1.0])),
            (some(&[10.0, 5.0, 0.0]), Range::Adaptive, HigherIsBetter, some(&[1.0, 0.5, 0.0])),
            (some(&[7.0, 7.0]), Range::Adaptive, LowerIsBetter, some(&[1.0, 1.0])),
            (
                vec![Some(10.0), None, Some(0.0)],
                Range::Adaptive,
                LowerIsBetter,
                vec![Some(0.0), None, Some(1.0)],
            ),
            (vec![None, None], Range::Adaptive, LowerIsBetter, vec![None, None]),
            (some(&[10.0, 5.0, 0.0]), fixed, LowerIsBetter, some(&[0.0, 0.5, 1.0])),
            (some(&[15.0, -5.0]), fixed, LowerIsBetter, some(&[0.0, 1.0])),
            (some(&[f64::MAX, f64::MIN]), Range::Adaptive, LowerIsBetter, some(&[0.0, 1.0])),
        ];
        for (values, range, direction, want) in cases {
            assert_eq!(scores(&values, range, direction), want, "{values:?} {range:?} {direction:?}");
        }
    }
}
