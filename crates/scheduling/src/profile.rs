//! Filters in their written order, then all scorers, then the picker.

use crate::{
    Candidate, Context, Decision, Excluded, Fallback, Filter, Picker, Rejection, Scorer, Strength, Undecided,
    Verdict,
};

/// A filter and what the config calls it.
#[derive(Debug)]
pub struct NamedFilter {
    /// The entry's name, by default its type.
    pub name: String,
    /// The filter.
    pub filter: Box<dyn Filter>,
}

/// A scorer, what the config calls it, and how much it counts.
#[derive(Debug)]
pub struct NamedScorer {
    /// The entry's name, by default its type.
    pub name: String,
    /// Factor of its scores in the total; finite and not negative.
    pub weight: f64,
    /// The scorer.
    pub scorer: Box<dyn Scorer>,
}

/// One way of choosing an endpoint.
#[derive(Debug)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// Applied in this order.
    pub filters: Vec<NamedFilter>,
    /// Summed up.
    pub scorers: Vec<NamedScorer>,
    /// Orders the scored candidates.
    pub picker: Box<dyn Picker>,
}

impl Profile {
    /// Decides. The same context and the same state of `rng` give the same decision.
    pub fn run(&self, cx: &Context<'_>, rng: &mut fastrand::Rng) -> Decision {
        let mut decision = Decision {
            outcome: Err(Rejection::NoEndpoints),
            excluded: Vec::new(),
            undecided: Vec::new(),
            fallbacks: Vec::new(),
            candidates: Vec::new(),
            snapshot_version: cx.snapshot.version(),
            snapshot_age: cx.now.since(cx.snapshot.updated_at()),
        };
        decision.outcome = self.decide(cx, rng, &mut decision);
        decision
    }

    fn decide(
        &self,
        cx: &Context<'_>,
        rng: &mut fastrand::Rng,
        decision: &mut Decision,
    ) -> Result<Vec<usize>, Rejection> {
        let mut survivors: Vec<usize> = (0..cx.snapshot.endpoints().len()).collect();
        if survivors.is_empty() {
            return Err(Rejection::NoEndpoints);
        }
        for (index, filter) in self.filters.iter().enumerate() {
            survivors = match apply(cx, index, filter.filter.as_ref(), survivors, decision) {
                Ok(survivors) => survivors,
                Err(rejection) => self.take_back(cx, index, decision).ok_or(rejection)?,
            };
        }
        decision.candidates = self.score(cx, survivors);
        let mut order = self.picker.pick(cx, &decision.candidates, rng);
        self.add_reserves(cx, &mut order, decision);
        Ok(order)
    }

    /// When the filter at `index` left nobody, a soft filter before it may have: the least bad of
    /// those that the last such filter excluded and that every firm filter since would keep.
    fn take_back(&self, cx: &Context<'_>, index: usize, decision: &mut Decision) -> Option<Vec<usize>> {
        for (soft, _) in self.filters.iter().enumerate().take(index).rev().filter(|(_, named)| is_soft(named))
        {
            let capable: Vec<&Excluded> = decision
                .excluded
                .iter()
                .filter(|excluded| {
                    excluded.filter == soft && self.firm_filters_keep(cx, excluded.endpoint, soft, index)
                })
                .collect();
            let kept = least_bad(&capable);
            if !kept.is_empty() {
                decision.fallbacks.push(Fallback::LeastBad { filter: soft, kept: kept.clone() });
                return Some(kept);
            }
        }
        None
    }

    /// Whether all filters after `after` up to `last` that do not relax keep the endpoint.
    fn firm_filters_keep(&self, cx: &Context<'_>, endpoint: usize, after: usize, last: usize) -> bool {
        self.filters
            .iter()
            .take(last + 1)
            .skip(after + 1)
            .filter(|named| !is_soft(named))
            .all(|named| !matches!(named.filter.judge(cx, &[endpoint]).first(), Some(Verdict::Drop { .. })))
    }

    fn score(&self, cx: &Context<'_>, survivors: Vec<usize>) -> Vec<Candidate> {
        let mut opinions: Vec<_> =
            self.scorers.iter().map(|named| named.scorer.score(cx, &survivors).into_iter()).collect();
        survivors
            .into_iter()
            .map(|endpoint| {
                let opinions: Vec<_> = opinions.iter_mut().filter_map(Iterator::next).collect();
                let total = self
                    .scorers
                    .iter()
                    .zip(&opinions)
                    .map(|(named, opinion)| named.weight * opinion.score.get())
                    .sum();
                Candidate { endpoint, total, opinions }
            })
            .collect()
    }

    /// Fills the list for retries: an attempt past its end would be balanced over everybody, also
    /// over those that a hard filter excluded. So whom only soft filters excluded follow, the
    /// latest-excluded and least bad first, and where even they are too few the list starts again.
    fn add_reserves(&self, cx: &Context<'_>, order: &mut Vec<usize>, decision: &Decision) {
        let wanted = self.picker.max_endpoints();
        if order.is_empty() || order.len() >= wanted {
            return;
        }
        let mut reserves: Vec<&Excluded> = decision
            .excluded
            .iter()
            .filter(|excluded| !order.contains(&excluded.endpoint) && self.only_softly_excluded(cx, excluded))
            .collect();
        reserves.sort_by(|a, b| b.filter.cmp(&a.filter).then_with(|| compare_excess(a.excess, b.excess)));
        order.extend(reserves.into_iter().map(|excluded| excluded.endpoint).take(wanted - order.len()));
        let distinct = order.clone();
        order.extend(distinct.into_iter().cycle().take(wanted - order.len()));
    }

    fn only_softly_excluded(&self, cx: &Context<'_>, excluded: &Excluded) -> bool {
        self.filters.get(excluded.filter).is_some_and(is_soft)
            && self.firm_filters_keep(cx, excluded.endpoint, excluded.filter, self.filters.len())
    }
}

fn is_soft(named: &NamedFilter) -> bool {
    named.filter.strength() == Strength::Soft
}

/// Smaller excess first; an unknown excess last.
fn compare_excess(a: Option<f64>, b: Option<f64>) -> std::cmp::Ordering {
    a.unwrap_or(f64::INFINITY).total_cmp(&b.unwrap_or(f64::INFINITY))
}

fn apply(
    cx: &Context<'_>,
    index: usize,
    filter: &dyn Filter,
    candidates: Vec<usize>,
    decision: &mut Decision,
) -> Result<Vec<usize>, Rejection> {
    let verdicts = filter.judge(cx, &candidates);
    let first_excluded = decision.excluded.len();
    let mut survivors = Vec::with_capacity(candidates.len());
    let mut met = false;
    for (endpoint, verdict) in candidates.into_iter().zip(verdicts) {
        match verdict {
            Verdict::Keep => {
                met = true;
                survivors.push(endpoint);
            }
            Verdict::Undecided(why) => {
                survivors.push(endpoint);
                decision.undecided.push(Undecided { endpoint, filter: index, why });
            }
            Verdict::Drop { reason, excess } => {
                decision.excluded.push(Excluded { endpoint, filter: index, reason, excess });
            }
        }
    }
    let excluded_here = decision.excluded.get(first_excluded..).unwrap_or_default();
    if met || (excluded_here.is_empty() && survivors.is_empty()) {
        return Ok(survivors);
    }
    if excluded_here.is_empty() {
        decision.fallbacks.push(Fallback::MetricsMissing { filter: index });
        return Ok(survivors);
    }
    if filter.strength() == Strength::Soft {
        let kept = least_bad(&excluded_here.iter().collect::<Vec<_>>());
        survivors.extend(&kept);
        survivors.sort_unstable();
        decision.fallbacks.push(Fallback::LeastBad { filter: index, kept });
    }
    if !survivors.is_empty() {
        return Ok(survivors);
    }
    Err(match filter.strength() {
        Strength::Hard => Rejection::NoneCapable { filter: index },
        Strength::Strict | Strength::Soft => Rejection::Saturated { filter: index },
    })
}

/// Those that were nearest to being kept.
fn least_bad(excluded: &[&Excluded]) -> Vec<usize> {
    let Some(best) = excluded.iter().map(|e| e.excess).min_by(|a, b| compare_excess(*a, *b)) else {
        return Vec::new();
    };
    excluded.iter().filter(|e| compare_excess(e.excess, best).is_eq()).map(|e| e.endpoint).collect()
}

#[cfg(test)]
mod tests;
