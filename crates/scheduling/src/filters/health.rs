//! `health-filter`: keeps endpoints that are ready and whose requests do not fail.
//!
//! Two witnesses: the `Ready` attribute (discovery and the companion's probes), and the failures in a row
//! that this proxy saw itself. Unlike a proxy's outlier detection it never takes out more than a share
//! of the pool for failures alone: if everybody fails, the fault is likely not the endpoints'.

use headroom_datalayer::{Span, SpanText, well_known};
use serde::Deserialize;

use crate::{
    AttributeSource, BuildContext, Context, Filter, Invalid, OnMissing, Plugin, Reason, Strength, Verdict,
    limit,
};

/// See the module.
#[derive(Clone, Debug)]
pub struct HealthFilter {
    ready: AttributeSource,
    on_missing: OnMissing,
    consecutive_failures: u32,
    ejection_time: Span,
    max_ejected_percent: u8,
}

/// Parameters of `health-filter`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Params {
    /// An endpoint is ejected after this many failed requests in a row: no answer, a broken connection,
    /// or status 500, 502, 503 or 504. Default 5; 0 never ejects.
    #[serde(default = "default_consecutive_failures")]
    consecutive_failures: u32,
    /// For how long after its last failure. Then it gets requests again, and one failure ejects it
    /// anew. Default `30s`.
    #[serde(default = "default_ejection_time")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    ejection_time: SpanText,
    /// At most this share of the pool is ejected, those that failed most. Percent, 0 to 100. Default 50.
    #[serde(default = "default_max_ejected_percent")]
    max_ejected_percent: u8,
    /// What to do with endpoints whose readiness is not known. Default `neutral`: they may serve.
    #[serde(default = "limit::neutral")]
    on_missing: OnMissing,
    /// Readiness that was told longer ago is missing, for instance `5s`. Default: the pool's, else the
    /// attribute's limit.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    max_age: Option<SpanText>,
}

const fn default_consecutive_failures() -> u32 {
    5
}

const fn default_ejection_time() -> SpanText {
    SpanText(Span::from_secs(30))
}

const fn default_max_ejected_percent() -> u8 {
    50
}

impl Plugin for HealthFilter {
    const TYPE: &'static str = "health-filter";
    const SUMMARY: &'static str = "Keeps endpoints that are ready and not ejected for failed requests; when none is, the request gets 503.";
    type Params = Params;

    fn build(params: Params, cx: &BuildContext<'_>) -> Result<Self, Vec<Invalid>> {
        if params.max_ejected_percent > 100 {
            let value = params.max_ejected_percent;
            return Err(vec![Invalid::new("maxEjectedPercent", value, "must be between 0 and 100")]);
        }
        Ok(Self {
            ready: AttributeSource::new(well_known::READY, params.max_age, cx),
            on_missing: params.on_missing,
            consecutive_failures: params.consecutive_failures,
            ejection_time: params.ejection_time.0,
            max_ejected_percent: params.max_ejected_percent,
        })
    }
}

impl HealthFilter {
    /// The failures of an endpoint, if they are enough and recent enough to eject it.
    fn failures(&self, cx: &Context<'_>, endpoint: usize) -> Option<u32> {
        let failing = cx.local.failures.failing(endpoint, cx.now)?;
        let many = self.consecutive_failures > 0 && failing.failures >= self.consecutive_failures;
        (many && failing.ago <= self.ejection_time).then_some(failing.failures)
    }

    /// Who of the whole pool is ejected.
    fn ejected(&self, cx: &Context<'_>) -> Vec<usize> {
        let pool = cx.snapshot.endpoints().len();
        let mut failing: Vec<(u32, usize)> =
            (0..pool).filter_map(|endpoint| Some((self.failures(cx, endpoint)?, endpoint))).collect();
        failing.sort_unstable_by(|a, b| {
            let address = |endpoint: usize| cx.endpoint(endpoint).map(|endpoint| &endpoint.address);
            b.0.cmp(&a.0).then_with(|| address(a.1).cmp(&address(b.1)))
        });
        failing.truncate(pool * usize::from(self.max_ejected_percent) / 100);
        failing.into_iter().map(|(_, endpoint)| endpoint).collect()
    }
}

impl Filter for HealthFilter {
    fn strength(&self) -> Strength {
        Strength::Health
    }

    fn watches_failures(&self) -> bool {
        self.consecutive_failures > 0
    }

    fn constraint(&self, _cx: &Context<'_>) -> String {
        "that is ready and whose requests do not fail".to_owned()
    }

    fn judge(&self, cx: &Context<'_>, candidates: &[usize]) -> Vec<Verdict> {
        let ejected = self.ejected(cx);
        let column = self.ready.column(cx.snapshot);
        let judge = |&endpoint: &usize| {
            let unavailable =
                |how: String| Verdict::Drop { reason: Reason::Unavailable { how }, excess: None };
            if ejected.contains(&endpoint) {
                let failures = self.failures(cx, endpoint).unwrap_or_default();
                return unavailable(format!("failed {failures} requests in a row"));
            }
            match self.ready.read(cx, column, endpoint) {
                Ok(measured) if measured.value > 0.0 => Verdict::Keep,
                Ok(measured) => unavailable(format!("is not ready, told {} ago", measured.age)),
                Err(why) => limit::missing(self.on_missing, well_known::READY, why),
            }
        };
        candidates.iter().map(judge).collect()
    }

    fn grounds(&self, cx: &Context<'_>, endpoint: usize) -> String {
        let failures = cx.local.failures.failing(endpoint, cx.now).map_or(0, |failing| failing.failures);
        format!("{}, {failures} failures in a row", self.ready.describe(cx, endpoint))
    }
}
