//! Random requests.

use headroom_scheduling::Request;

use crate::dice::Dice;
use crate::known::SESSIONS;
use crate::pool::{LABELS, MODELS};

/// A request with headers that the plugins of [`crate::parameters`] read.
pub fn random(dice: &mut Dice) -> Request {
    let mut request = Request {
        model: dice.chance(0.9).then(|| dice.one(MODELS).to_owned()),
        stream: dice.chance(0.5),
        input_tokens: dice.chance(0.9).then(|| dice.below(dice.clone().one(&[200, 10_000, 300_000]))),
        max_output_tokens: dice.chance(0.5).then(|| dice.below(9_000)),
        multimodal: dice.chance(0.3),
        headers: std::collections::BTreeMap::new(),
    };
    let mut header = |name: &str, value: String| request.headers.insert(name.to_owned(), value);
    if dice.chance(0.7) {
        header("x-session-id", dice.one(SESSIONS).to_owned());
    }
    if dice.chance(0.3) {
        header("x-session-token", format!("{:016x}{:016x}", dice.bits(), dice.bits()));
    }
    if dice.chance(0.7) {
        header(
            "epp-profile",
            dice.one(&["decode", "prefill", "encode", " decode ", "nobody", ""]).to_owned(),
        );
    }
    if dice.chance(0.7) {
        let (_, values) = LABELS.get(dice.index(LABELS.len())).copied().unwrap_or_default();
        header("x-zone", dice.one(values).to_owned());
    }
    request
}
