//! `memory-tier-filter`: keeps endpoints whose KV cache and context hold the whole request.
//!
//! The need is the prompt's tokens plus the answer's: the limit the client set, else `outputTokens`.
//! The capacity is the smaller of `CacheBlockSize` × `CacheNumBlocks` and `MaxModelLen`.

use headroom_datalayer::{Column, SpanText, well_known};
use serde::Deserialize;

use crate::{
    AttributeSource, BuildContext, Context, Filter, Invalid, OnMissing, Plugin, Reason, Strength, Unmeasured,
    Verdict, limit,
};

/// See the module.
#[derive(Clone, Debug)]
pub struct MemoryTierFilter {
    /// Block size, number of blocks, context length.
    sources: [AttributeSource; 3],
    output_tokens: u64,
    on_missing: OnMissing,
}

/// Parameters of `memory-tier-filter`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Params {
    /// Tokens of the answer where the client sets no limit. Default 0.
    #[serde(default)]
    output_tokens: u64,
    /// What to do with endpoints whose capacity is not known. Default `neutral`: they may serve while no
    /// endpoint is known to hold the request.
    #[serde(default = "limit::neutral")]
    on_missing: OnMissing,
    /// What was reported longer ago is missing, for instance `10m`. Default: the pool's, else the
    /// attribute's limit.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    max_age: Option<SpanText>,
}

impl Plugin for MemoryTierFilter {
    const TYPE: &'static str = "memory-tier-filter";
    const SUMMARY: &'static str = "Keeps endpoints whose KV cache and context length hold the request's estimated tokens, prompt and answer.";
    type Params = Params;

    fn build(params: Params, cx: &BuildContext<'_>) -> Result<Self, Vec<Invalid>> {
        let source = |name| AttributeSource::new(name, params.max_age, cx);
        Ok(Self {
            sources: [well_known::CACHE_BLOCK_SIZE, well_known::CACHE_NUM_BLOCKS, well_known::MAX_MODEL_LEN]
                .map(source),
            output_tokens: params.output_tokens,
            on_missing: params.on_missing,
        })
    }
}

/// Name of what is compared.
const CAPACITY: &str = "capacity in tokens";

impl MemoryTierFilter {
    /// Tokens that the request needs; `None` for a request without a body.
    #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^53")]
    fn need(&self, cx: &Context<'_>) -> Option<f64> {
        let output = cx.request.max_output_tokens.unwrap_or(self.output_tokens);
        cx.request.input_tokens.map(|input| input.saturating_add(output) as f64)
    }

    fn columns(&self, cx: &Context<'_>) -> [Option<Column>; 3] {
        self.sources.each_ref().map(|source| source.column(cx.snapshot))
    }

    /// What the endpoint holds, by what is known: its cache, its context length, or the smaller of both.
    fn capacity(
        &self,
        cx: &Context<'_>,
        columns: &[Option<Column>; 3],
        endpoint: usize,
    ) -> Result<f64, Unmeasured> {
        let read = |source: &AttributeSource, column: &Option<Column>| {
            source.read(cx, *column, endpoint).map(|measured| measured.value)
        };
        let [size, blocks, context] = &self.sources;
        let [size_at, blocks_at, context_at] = columns;
        let cache = read(size, size_at).and_then(|size| Ok(size * read(blocks, blocks_at)?));
        match (cache, read(context, context_at)) {
            (Ok(cache), Ok(context)) => Ok(if context < cache { context } else { cache }),
            (Ok(known), Err(_)) | (Err(_), Ok(known)) => Ok(known),
            (Err(why), Err(_)) => Err(why),
        }
    }
}

impl Filter for MemoryTierFilter {
    fn strength(&self) -> Strength {
        Strength::Hard
    }

    fn constraint(&self, cx: &Context<'_>) -> String {
        match self.need(cx) {
            Some(need) => format!("that holds the request's {need} tokens"),
            None => "that holds the request".to_owned(),
        }
    }

    fn judge(&self, cx: &Context<'_>, candidates: &[usize]) -> Vec<Verdict> {
        let Some(need) = self.need(cx) else { return vec![Verdict::Keep; candidates.len()] };
        let columns = self.columns(cx);
        let judge = |&endpoint: &usize| match self.capacity(cx, &columns, endpoint) {
            Ok(capacity) if capacity >= need => Verdict::Keep,
            Ok(capacity) => Verdict::Drop {
                reason: Reason::Limit {
                    attribute: CAPACITY.to_owned(),
                    value: capacity,
                    sent_since: 0,
                    wanted: format!(">= {need}"),
                    age: None,
                },
                excess: None,
            },
            Err(why) => limit::missing(self.on_missing, CAPACITY, why),
        };
        candidates.iter().map(judge).collect()
    }

    fn grounds(&self, cx: &Context<'_>, endpoint: usize) -> String {
        match self.capacity(cx, &self.columns(cx), endpoint) {
            Ok(capacity) => format!("{CAPACITY} {capacity}"),
            Err(why) => format!("{CAPACITY} {why}"),
        }
    }
}
