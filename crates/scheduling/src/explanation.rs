//! A decision with names instead of indices: what is logged, shown and read back by tools.

use serde::{Deserialize, Serialize};

use crate::reading::rounded;
use crate::{
    Context, Decision, Excluded, Fallback, Finding, Input, NamedScorer, Opinion, Profile, Rejection,
    Schedule, Scheduler, Undecided, scheduler,
};

mod words;

/// The placement of one request, in a form that stands by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// The pool.
    pub pool: String,
    /// The snapshot's version.
    pub snapshot_version: u64,
    /// The snapshot's age in milliseconds.
    pub snapshot_age_ms: u64,
    /// How many endpoints the pool had.
    pub endpoints: usize,
    /// The profile that chose where the request goes.
    #[serde(flatten)]
    pub main: ProfileExplanation,
    /// The other profiles that ran, for instance the prefill stage.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<ProfileExplanation>,
}

/// One profile's decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ProfileExplanation {
    /// The profile; empty when none ran.
    pub profile: String,
    /// What came out.
    pub outcome: Outcome,
    /// Who had the same total as the choice: chance decided between them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tied: Vec<String>,
    /// Filters that could not be kept to, and probes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallbacks: Vec<FallbackUsed>,
    /// Who was left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub excluded: Vec<ExcludedEndpoint>,
    /// Who passed a filter only because there was nothing to judge by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undecided: Vec<ExcludedEndpoint>,
    /// Who was scored: the chosen and their order first, then by total.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<ScoredEndpoint>,
    /// Endpoints that `excluded` and `candidates` leave out to stay short.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_shown: usize,
}

/// What came out of a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// Addresses: the choice first, then where to retry.
    Chosen(Vec<String>),
    /// Why nobody can serve.
    Rejected(String),
}

/// A filter that could not be kept to, or a probe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FallbackUsed {
    /// The filter's name; for a probe the scorer's.
    pub filter: String,
    /// `least bad`, `metrics missing` or `probe`.
    pub rule: String,
    /// Addresses of those it excluded that were taken back, or of the endpoint that is probed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<String>,
    /// What a probe is to find out about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<String>,
}

/// An endpoint that a filter left out, or could not judge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ExcludedEndpoint {
    /// Its address.
    pub endpoint: String,
    /// What people call it.
    pub name: String,
    /// The filter's name.
    pub filter: String,
    /// Why, in words.
    pub reason: String,
}

/// An endpoint that passed the filters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ScoredEndpoint {
    /// Its address.
    pub endpoint: String,
    /// What people call it.
    pub name: String,
    /// Sum of the weighted scores.
    pub total: f64,
    /// Why it may serve: one a filter. Only where asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grounds: Vec<Ground>,
    /// One a scorer.
    pub scores: Vec<ScorePart>,
}

/// Why an endpoint may serve, by one filter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Ground {
    /// The filter's name.
    pub filter: String,
    /// What it asks for.
    pub constraint: String,
    /// What the endpoint has.
    pub value: String,
}

/// One scorer's share of a total.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ScorePart {
    /// The scorer's name.
    pub scorer: String,
    /// The measured or counted value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Requests sent since the value was measured, added to it.
    #[serde(default, skip_serializing_if = "is_zero_u32")]
    pub sent_since: u32,
    /// Age of the value in milliseconds; absent for what the proxy counts itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age_ms: Option<u64>,
    /// Why there is no value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// What was found, where it is no number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    /// 0 to 1, before the weight.
    pub score: f64,
    /// The factor.
    pub weight: f64,
    /// After the weight.
    pub weighted: f64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_zero(n: &usize) -> bool {
    *n == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_zero_u32(n: &u32) -> bool {
    *n == 0
}

/// How much an explanation says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detail {
    /// At most this many excluded and as many scored endpoints of each profile.
    pub max_endpoints: usize,
    /// Whether it says why each candidate may serve.
    pub grounds: bool,
}

impl Detail {
    /// Everything.
    pub const FULL: Self = Self { max_endpoints: usize::MAX, grounds: true };
}

impl Explanation {
    /// Explains `schedule`, which `scheduler` made for `cx`.
    pub fn new(schedule: &Schedule, scheduler: &Scheduler, cx: &Context<'_>, detail: Detail) -> Self {
        let explain = |run: usize| {
            let run = schedule.runs.get(run)?;
            let profile = scheduler.profiles.get(run.profile)?;
            Some(Namer { profile, cx, detail }.explain(&run.decision))
        };
        let (primary, reason) = match &schedule.outcome {
            scheduler::Outcome::Placed { run, .. } | scheduler::Outcome::Rejected { run, .. } => {
                (Some(*run), "")
            }
            scheduler::Outcome::NoProfile { reason } => (None, reason.as_str()),
        };
        let nothing = || ProfileExplanation {
            profile: String::new(),
            outcome: Outcome::Rejected(reason.to_owned()),
            tied: Vec::new(),
            fallbacks: Vec::new(),
            excluded: Vec::new(),
            undecided: Vec::new(),
            candidates: Vec::new(),
            not_shown: 0,
        };
        Self {
            pool: cx.snapshot.pool().to_owned(),
            snapshot_version: cx.snapshot.version(),
            snapshot_age_ms: cx.now.since(cx.snapshot.updated_at()).as_millis(),
            endpoints: cx.snapshot.endpoints().len(),
            main: primary.and_then(explain).unwrap_or_else(nothing),
            stages: (0..schedule.runs.len())
                .filter(|run| Some(*run) != primary)
                .filter_map(explain)
                .collect(),
        }
    }
}

impl Rejection {
    /// In words, with the filter's name and its constraint.
    pub fn message(&self, profile: &Profile, cx: &Context<'_>) -> String {
        match self {
            Self::NoEndpoints => "the pool has no endpoints".to_owned(),
            Self::NoneCapable { filter } | Self::NoneAvailable { filter } | Self::Saturated { filter } => {
                match profile.filters.get(*filter) {
                    Some(named) => format!("no endpoint {} ({})", named.filter.constraint(cx), named.name),
                    None => "no endpoint is left".to_owned(),
                }
            }
        }
    }
}

/// Turns indices into names.
struct Namer<'a> {
    profile: &'a Profile,
    cx: &'a Context<'a>,
    detail: Detail,
}

impl Namer<'_> {
    fn explain(&self, decision: &Decision) -> ProfileExplanation {
        let chosen = decision.outcome.as_deref().unwrap_or_default();
        let place =
            |endpoint: usize| chosen.iter().position(|chosen| *chosen == endpoint).unwrap_or(usize::MAX);
        let mut candidates: Vec<_> = decision.candidates.iter().collect();
        candidates.sort_by(|a, b| {
            place(a.endpoint).cmp(&place(b.endpoint)).then_with(|| b.total.total_cmp(&a.total))
        });
        // Whom a fallback took back is a candidate, and named by the fallback.
        let mut is_candidate = vec![false; self.cx.snapshot.endpoints().len()];
        for candidate in &decision.candidates {
            if let Some(mark) = is_candidate.get_mut(candidate.endpoint) {
                *mark = true;
            }
        }
        let left_out =
            |excluded: &&Excluded| is_candidate.get(excluded.endpoint).is_none_or(|candidate| !candidate);
        let excluded: Vec<_> = decision.excluded.iter().filter(left_out).collect();
        let max = self.detail.max_endpoints;
        let shown = candidates.len().min(max) + excluded.len().min(max);
        let choice = candidates.first().filter(|candidate| Some(candidate.endpoint) == decision.choice());
        let ties = candidates
            .iter()
            .skip(1)
            .filter(|other| choice.is_some_and(|choice| other.total.total_cmp(&choice.total).is_eq()));
        ProfileExplanation {
            profile: self.profile.name.clone(),
            outcome: match &decision.outcome {
                Ok(order) => Outcome::Chosen(order.iter().map(|&endpoint| self.address(endpoint)).collect()),
                Err(rejection) => Outcome::Rejected(rejection.message(self.profile, self.cx)),
            },
            tied: ties.take(max).map(|candidate| self.address(candidate.endpoint)).collect(),
            fallbacks: decision.fallbacks.iter().map(|fallback| self.fallback(fallback)).collect(),
            undecided: decision
                .undecided
                .iter()
                .take(max)
                .map(|undecided| self.undecided(undecided))
                .collect(),
            not_shown: candidates.len() + excluded.len() - shown,
            excluded: excluded
                .into_iter()
                .take(max)
                .map(|excluded| self.left(excluded.endpoint, excluded.filter, excluded.reason.to_string()))
                .collect(),
            candidates: candidates
                .iter()
                .take(max)
                .map(|candidate| ScoredEndpoint {
                    endpoint: self.address(candidate.endpoint),
                    name: self.name(candidate.endpoint),
                    total: rounded(candidate.total),
                    grounds: self.grounds(candidate.endpoint),
                    scores: self.parts(&candidate.opinions),
                })
                .collect(),
        }
    }

    fn address(&self, endpoint: usize) -> String {
        self.cx.endpoint(endpoint).map(|e| e.address.to_string()).unwrap_or_default()
    }

    fn name(&self, endpoint: usize) -> String {
        self.cx.endpoint(endpoint).map(|e| e.name.clone()).unwrap_or_default()
    }

    fn filter(&self, index: usize) -> String {
        self.profile.filters.get(index).map(|named| named.name.clone()).unwrap_or_default()
    }

    fn grounds(&self, endpoint: usize) -> Vec<Ground> {
        if !self.detail.grounds {
            return Vec::new();
        }
        let ground = |named: &crate::NamedFilter| Ground {
            filter: named.name.clone(),
            constraint: named.filter.constraint(self.cx),
            value: named.filter.grounds(self.cx, endpoint),
        };
        self.profile.filters.iter().map(ground).collect()
    }

    fn fallback(&self, fallback: &Fallback) -> FallbackUsed {
        let used = |filter: String, rule: &str, kept: &[usize], finding| FallbackUsed {
            filter,
            rule: rule.to_owned(),
            kept: kept.iter().map(|&endpoint| self.address(endpoint)).collect(),
            finding,
        };
        match fallback {
            Fallback::LeastBad { filter, kept } => used(self.filter(*filter), "least bad", kept, None),
            Fallback::MetricsMissing { filter } => used(self.filter(*filter), "metrics missing", &[], None),
            Fallback::Probe { endpoint, finding } => {
                let (scorer, words) = match finding {
                    Finding::Unmeasured { scorer, why } => (*scorer, why.to_string()),
                    Finding::LoadWithoutRequests { scorer, requests } => {
                        (*scorer, format!("{} reported and none of ours there", rounded(*requests)))
                    }
                };
                let name = self.profile.scorers.get(scorer).map(|named| named.name.clone());
                used(name.unwrap_or_default(), "probe", &[*endpoint], Some(words))
            }
        }
    }

    fn left(&self, endpoint: usize, filter: usize, reason: String) -> ExcludedEndpoint {
        let (address, name, filter) = (self.address(endpoint), self.name(endpoint), self.filter(filter));
        ExcludedEndpoint { endpoint: address, name, filter, reason }
    }

    fn undecided(&self, undecided: &Undecided) -> ExcludedEndpoint {
        let Undecided { endpoint, filter, attribute, why } = undecided;
        self.left(*endpoint, *filter, format!("{attribute}: {why}"))
    }

    fn parts(&self, opinions: &[Opinion]) -> Vec<ScorePart> {
        let part = |(named, opinion): (&NamedScorer, &Opinion)| {
            let mut part = ScorePart {
                scorer: named.name.clone(),
                value: None,
                sent_since: 0,
                age_ms: None,
                missing: None,
                said: None,
                score: rounded(opinion.score.get()),
                weight: named.weight,
                weighted: rounded(named.weight * opinion.score.get()),
            };
            match opinion.input {
                Input::Measured { value, sent_since, age, .. } => {
                    part.value = Some(rounded(value));
                    part.sent_since = sent_since;
                    part.age_ms = Some(age.as_millis());
                }
                Input::Counted(value) => part.value = Some(rounded(value)),
                Input::Said(words) => part.said = Some(words.to_owned()),
                Input::Unmeasured(why) => part.missing = Some(why.to_string()),
            }
            part
        };
        self.profile.scorers.iter().zip(opinions).map(part).collect()
    }
}
