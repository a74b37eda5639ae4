//! Filters in their written order, then all scorers, then the picker.

use headroom_datalayer::{AttributeRef, Reading, well_known};

use crate::{
    Candidate, Context, Decision, Excluded, Fallback, Filter, Finding, Input, Picker, Reason, Rejection,
    Scorer, Strength, Undecided, Verdict,
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
    /// Share of the requests, 0 to 1, that go to an endpoint of which something cannot be believed and
    /// where this proxy has no request in flight ([`Fallback::Probe`]).
    pub exploration: f64,
}

impl Profile {
    /// Decides. The same context gives the same decision.
    pub fn run(&self, cx: &Context<'_>) -> Decision {
        let mut decision = Decision {
            outcome: Err(Rejection::NoEndpoints),
            excluded: Vec::new(),
            undecided: Vec::new(),
            fallbacks: Vec::new(),
            candidates: Vec::new(),
            snapshot_version: cx.snapshot.version(),
            snapshot_age: cx.now.since(cx.snapshot.updated_at()),
        };
        decision.outcome = self.decide(cx, &mut decision);
        decision
    }

    /// Whether an endpoint could have been chosen: no filter but a soft one kept it out.
    pub(crate) fn could_serve(&self, decision: &Decision, endpoint: usize) -> bool {
        let firmly = |excluded: &Excluded| {
            excluded.endpoint == endpoint
                && self.filters.get(excluded.filter).is_none_or(|named| !is_soft(named))
        };
        !decision.excluded.iter().any(firmly)
    }

    fn decide(&self, cx: &Context<'_>, decision: &mut Decision) -> Result<Vec<usize>, Rejection> {
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
        let mut order = self.picker.pick(cx, &decision.candidates);
        self.probe(cx, &mut order, decision);
        self.add_reserves(cx, &mut order, decision);
        Ok(order)
    }

    /// When the filter at `index` left nobody, a soft filter before it may have: the least bad of
    /// those that the last such filter excluded and that every firm filter since would keep.
    fn take_back(&self, cx: &Context<'_>, index: usize, decision: &mut Decision) -> Option<Vec<usize>> {
        for (soft, _) in self.filters.iter().enumerate().take(index).rev().filter(|(_, named)| is_soft(named))
        {
            let excluded: Vec<&Excluded> = decision.excluded.iter().filter(|e| e.filter == soft).collect();
            let kept = least_bad(&self.firm_filters_keep(cx, excluded, soft, index));
            if !kept.is_empty() {
                decision.fallbacks.push(Fallback::LeastBad { filter: soft, kept: kept.clone() });
                return Some(kept);
            }
        }
        None
    }

    /// Those that all filters after `after` up to `last` that do not relax keep.
    fn firm_filters_keep<'e>(
        &self,
        cx: &Context<'_>,
        mut excluded: Vec<&'e Excluded>,
        after: usize,
        last: usize,
    ) -> Vec<&'e Excluded> {
        let later = self.filters.iter().take(last.saturating_add(1)).skip(after + 1);
        for named in later.filter(|named| !is_soft(named)) {
            let endpoints: Vec<usize> = excluded.iter().map(|excluded| excluded.endpoint).collect();
            let verdicts = named.filter.judge(cx, &endpoints);
            let kept = |verdict: &Verdict| match verdict {
                Verdict::Keep => true,
                Verdict::Undecided { .. } => named.filter.strength() != Strength::Hard,
                Verdict::Drop { .. } => false,
            };
            let judged = excluded.into_iter().zip(verdicts);
            excluded = judged.filter(|(_, verdict)| kept(verdict)).map(|(excluded, _)| excluded).collect();
        }
        excluded
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
        let mut reserves: Vec<&Excluded> = Vec::new();
        for (soft, _) in self.filters.iter().enumerate().filter(|(_, named)| is_soft(named)) {
            let unused = |e: &&Excluded| e.filter == soft && !order.contains(&e.endpoint);
            let excluded = decision.excluded.iter().filter(unused).collect();
            reserves.extend(self.firm_filters_keep(cx, excluded, soft, self.filters.len()));
        }
        reserves.sort_by(|a, b| {
            let worse = b.filter.cmp(&a.filter).then_with(|| compare_excess(a.excess, b.excess));
            worse.then_with(|| cx.lot(a.endpoint).cmp(&cx.lot(b.endpoint)))
        });
        order.extend(reserves.into_iter().map(|excluded| excluded.endpoint).take(wanted - order.len()));
        let distinct = order.clone();
        order.extend(distinct.into_iter().cycle().take(wanted - order.len()));
    }

    /// Puts an endpoint of which something cannot be believed to the front, for a small share of the
    /// requests: else one that is never chosen is never measured, and stays unknown or frozen for ever
    /// (an engine may export its gauges only after its first request). One that the companion does not
    /// reach is not probed: a request would not make it known.
    fn probe(&self, cx: &Context<'_>, order: &mut Vec<usize>, decision: &mut Decision) {
        if decision.candidates.len() < 2 || cx.rng(PROBE).f64() >= self.exploration {
            return;
        }
        let ready = cx.snapshot.column(well_known::READY);
        let max_age = AttributeRef::resolve(well_known::READY).default_max_age();
        let answers = |endpoint| match cx.snapshot.reading(endpoint, ready, cx.now, max_age) {
            Reading::Fresh { value, .. } => value.as_number().is_some_and(|ready| ready > 0.0),
            Reading::Stale { .. } | Reading::FutureDated | Reading::Missing => false,
        };
        let unbelieved = |candidate: &Candidate| {
            let endpoint = candidate.endpoint;
            let free = cx.local.load.requests(endpoint) == 0 && order.first() != Some(&endpoint);
            Some((endpoint, finding(candidate).filter(|_| free && answers(endpoint))?))
        };
        let found = decision.candidates.iter().filter_map(unbelieved);
        let Some((endpoint, finding)) = found.min_by_key(|(endpoint, _)| cx.lot(*endpoint)) else {
            return;
        };
        order.retain(|other| *other != endpoint);
        order.insert(0, endpoint);
        order.truncate(self.picker.max_endpoints());
        decision.fallbacks.push(Fallback::Probe { endpoint, finding });
    }
}

/// Tells the draw for probes from the pickers' draws.
const PROBE: u64 = 0x0070_726f_6265;

/// What cannot be believed of a candidate without a request of ours.
fn finding(candidate: &Candidate) -> Option<Finding> {
    candidate.opinions.iter().enumerate().find_map(|(scorer, opinion)| match opinion.input {
        Input::Unmeasured(why) => Some(Finding::Unmeasured { scorer, why }),
        Input::Measured { value, counts_requests: true, .. } if value > 0.0 => {
            Some(Finding::LoadWithoutRequests { scorer, requests: value })
        }
        Input::Measured { .. } | Input::Counted(_) | Input::Said(_) => None,
    })
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
    let strength = filter.strength();
    let verdicts = filter.judge(cx, &candidates);
    let first_excluded = decision.excluded.len();
    let met = verdicts.contains(&Verdict::Keep);
    let mut survivors = Vec::with_capacity(candidates.len());
    for (endpoint, verdict) in candidates.into_iter().zip(verdicts) {
        let (reason, excess) = match verdict {
            Verdict::Keep => {
                survivors.push(endpoint);
                continue;
            }
            // Beside endpoints that are known to meet a constraint, one that may not is not let through.
            Verdict::Undecided { attribute, why } if met && strength == Strength::Hard => {
                (Reason::Unmeasured { attribute, why }, None)
            }
            Verdict::Undecided { attribute, why } => {
                survivors.push(endpoint);
                decision.undecided.push(Undecided { endpoint, filter: index, attribute, why });
                continue;
            }
            Verdict::Drop { reason, excess } => (reason, excess),
        };
        decision.excluded.push(Excluded { endpoint, filter: index, reason, excess });
    }
    let excluded_here = decision.excluded.get(first_excluded..).unwrap_or_default();
    if met || (excluded_here.is_empty() && survivors.is_empty()) {
        return Ok(survivors);
    }
    if excluded_here.is_empty() || (strength == Strength::Hard && !survivors.is_empty()) {
        decision.fallbacks.push(Fallback::MetricsMissing { filter: index });
        return Ok(survivors);
    }
    if strength == Strength::Soft {
        let kept = least_bad(&excluded_here.iter().collect::<Vec<_>>());
        survivors.extend(&kept);
        survivors.sort_unstable();
        decision.fallbacks.push(Fallback::LeastBad { filter: index, kept });
    }
    if !survivors.is_empty() {
        return Ok(survivors);
    }
    Err(match strength {
        Strength::Hard => Rejection::NoneCapable { filter: index },
        Strength::Health => Rejection::NoneAvailable { filter: index },
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
