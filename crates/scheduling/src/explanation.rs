//! A decision with names instead of indices: what is logged, shown and read back by tools.

use headroom_datalayer::Snapshot;
use serde::{Deserialize, Serialize};

use crate::{Decision, Excluded, Fallback, Input, Opinion, Profile, Reason, Rejection, Unmeasured};

/// A decision that stands by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// The pool.
    pub pool: String,
    /// The profile that ran.
    pub profile: String,
    /// The snapshot's version.
    pub snapshot_version: u64,
    /// The snapshot's age in milliseconds.
    pub snapshot_age_ms: u64,
    /// How many endpoints the pool had.
    pub endpoints: usize,
    /// What came out.
    pub outcome: Outcome,
    /// Filters that could not be kept to.
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
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// Addresses: the choice first, then where to retry.
    Chosen(Vec<String>),
    /// Why nobody can serve.
    Rejected(String),
}

/// A filter that could not be kept to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FallbackUsed {
    /// The filter's name.
    pub filter: String,
    /// `least bad` or `metrics missing`.
    pub rule: String,
    /// Addresses of those it excluded that were taken back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<String>,
}

/// An endpoint that a filter left out, or could not judge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[serde(rename_all = "camelCase")]
pub struct ScoredEndpoint {
    /// Its address.
    pub endpoint: String,
    /// What people call it.
    pub name: String,
    /// Sum of the weighted scores.
    pub total: f64,
    /// One a scorer.
    pub scores: Vec<ScorePart>,
}

/// One scorer's share of a total.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// 0 to 1, before the weight.
    pub score: f64,
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

/// Three digits are what a person compares; the rest is length.
fn rounded(number: f64) -> f64 {
    (number * 1e3).round() / 1e3
}

impl Explanation {
    /// Explains `decision`, which `profile` made on `snapshot`, with at most `max_shown` excluded and
    /// as many scored endpoints.
    pub fn new(decision: &Decision, profile: &Profile, snapshot: &Snapshot, max_shown: usize) -> Self {
        let namer = Namer { profile, snapshot };
        let chosen = decision.outcome.as_deref().unwrap_or_default();
        let place =
            |endpoint: usize| chosen.iter().position(|chosen| *chosen == endpoint).unwrap_or(usize::MAX);
        let mut candidates: Vec<_> = decision.candidates.iter().collect();
        candidates.sort_by(|a, b| {
            place(a.endpoint).cmp(&place(b.endpoint)).then_with(|| b.total.total_cmp(&a.total))
        });
        // Whom a fallback took back is a candidate, and named by the fallback.
        let taken_back = |excluded: &&Excluded| {
            decision.candidates.iter().any(|candidate| candidate.endpoint == excluded.endpoint)
        };
        let excluded: Vec<_> = decision.excluded.iter().filter(|excluded| !taken_back(excluded)).collect();
        let shown = candidates.len().min(max_shown) + excluded.len().min(max_shown);
        Self {
            pool: snapshot.pool().to_owned(),
            profile: profile.name.clone(),
            snapshot_version: decision.snapshot_version,
            snapshot_age_ms: decision.snapshot_age.as_millis(),
            endpoints: snapshot.endpoints().len(),
            outcome: match &decision.outcome {
                Ok(order) => Outcome::Chosen(order.iter().map(|&endpoint| namer.address(endpoint)).collect()),
                Err(rejection) => Outcome::Rejected(rejection.message(profile)),
            },
            fallbacks: decision.fallbacks.iter().map(|fallback| namer.fallback(fallback)).collect(),
            undecided: decision
                .undecided
                .iter()
                .take(max_shown)
                .map(|undecided| namer.left(undecided.endpoint, undecided.filter, undecided.why.to_string()))
                .collect(),
            not_shown: candidates.len() + excluded.len() - shown,
            excluded: excluded
                .into_iter()
                .take(max_shown)
                .map(|excluded| namer.left(excluded.endpoint, excluded.filter, excluded.reason.to_string()))
                .collect(),
            candidates: candidates
                .iter()
                .take(max_shown)
                .map(|candidate| ScoredEndpoint {
                    endpoint: namer.address(candidate.endpoint),
                    name: namer.name(candidate.endpoint),
                    total: rounded(candidate.total),
                    scores: namer.parts(&candidate.opinions),
                })
                .collect(),
        }
    }
}

impl Rejection {
    /// In words, with the filter's name and its constraint.
    pub fn message(&self, profile: &Profile) -> String {
        let filter = |index: usize| profile.filters.get(index);
        match self {
            Self::NoEndpoints => "the pool has no endpoints".to_owned(),
            Self::NoneCapable { filter: index } | Self::Saturated { filter: index } => match filter(*index) {
                Some(named) => format!("no endpoint {} ({})", named.filter.constraint(), named.name),
                None => "no endpoint is left".to_owned(),
            },
        }
    }
}

/// Turns indices into names.
struct Namer<'a> {
    profile: &'a Profile,
    snapshot: &'a Snapshot,
}

impl Namer<'_> {
    fn address(&self, endpoint: usize) -> String {
        self.snapshot.endpoints().get(endpoint).map(|e| e.address.to_string()).unwrap_or_default()
    }

    fn name(&self, endpoint: usize) -> String {
        self.snapshot.endpoints().get(endpoint).map(|e| e.name.clone()).unwrap_or_default()
    }

    fn filter(&self, index: usize) -> String {
        self.profile.filters.get(index).map(|named| named.name.clone()).unwrap_or_default()
    }

    fn fallback(&self, fallback: &Fallback) -> FallbackUsed {
        match fallback {
            Fallback::LeastBad { filter, kept } => FallbackUsed {
                filter: self.filter(*filter),
                rule: "least bad".to_owned(),
                kept: kept.iter().map(|&endpoint| self.address(endpoint)).collect(),
            },
            Fallback::MetricsMissing { filter } => FallbackUsed {
                filter: self.filter(*filter),
                rule: "metrics missing".to_owned(),
                kept: Vec::new(),
            },
        }
    }

    fn left(&self, endpoint: usize, filter: usize, reason: String) -> ExcludedEndpoint {
        let (address, name, filter) = (self.address(endpoint), self.name(endpoint), self.filter(filter));
        ExcludedEndpoint { endpoint: address, name, filter, reason }
    }

    fn parts(&self, opinions: &[Opinion]) -> Vec<ScorePart> {
        let part = |(named, opinion): (&crate::NamedScorer, &Opinion)| {
            let (value, sent_since, age_ms, missing) = match opinion.input {
                Input::Measured { value, sent_since, age } => {
                    (Some(value), sent_since, Some(age.as_millis()), None)
                }
                Input::Counted(value) => (Some(value), 0, None, None),
                Input::Unmeasured(why) => (None, 0, None, Some(why.to_string())),
            };
            ScorePart {
                scorer: named.name.clone(),
                value: value.map(rounded),
                sent_since,
                age_ms,
                missing,
                score: rounded(opinion.score.get()),
                weighted: rounded(named.weight * opinion.score.get()),
            }
        };
        self.profile.scorers.iter().zip(opinions).map(part).collect()
    }
}

impl std::fmt::Display for Unmeasured {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing => f.write_str("never measured"),
            Self::Stale { age } => write!(f, "stale, measured {age} ago"),
            Self::FutureDated => f.write_str("dated in the future"),
            Self::NotANumber => f.write_str("not a number"),
        }
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Labels { requirement } => write!(f, "its labels do not meet {requirement}"),
            Self::Limit { attribute, value, wanted, age } => {
                write!(f, "{attribute} is {}, wanted {wanted}, measured {age} ago", rounded(*value))
            }
            Self::Unmeasured { attribute, why } => write!(f, "{attribute} is missing: {why}"),
        }
    }
}
