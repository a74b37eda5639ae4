//! What is sent, and when. The same seed gives the same requests to the letter.

use std::time::Duration;

use super::arrivals;
use crate::http;

/// The shape of a load.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    /// Requests per second.
    pub rate: f64,
    /// How long requests are sent.
    pub length: Duration,
    /// Mean prompt length in tokens of four bytes; single prompts have half to one and a half of it.
    pub prompt_tokens: u32,
    /// Mean output length in tokens; single requests ask for half to one and a half of it.
    pub output_tokens: u32,
    /// Seed of arrivals, lengths and texts.
    pub seed: u64,
}

/// One request to be sent.
#[derive(Clone, Debug)]
pub struct Planned {
    /// When, from the beginning.
    pub due: Duration,
    /// The JSON body.
    pub body: String,
}

impl Workload {
    /// All requests, in the order in which they are due.
    pub fn plan(&self) -> Vec<Planned> {
        let mut rng = fastrand::Rng::with_seed(self.seed);
        let times = arrivals::poisson(self.rate, self.length, &mut rng);
        let around = |mean: u32, rng: &mut fastrand::Rng| rng.u32(mean / 2..=mean + mean / 2).max(1);
        times
            .into_iter()
            .map(|due| {
                let prompt = text(around(self.prompt_tokens, &mut rng), &mut rng);
                let output = around(self.output_tokens, &mut rng);
                Planned { due, body: http::chat(&prompt, output, true).to_string() }
            })
            .collect()
    }
}

/// Text of `tokens` times four bytes that no other request shares.
fn text(tokens: u32, rng: &mut fastrand::Rng) -> String {
    (0..tokens).flat_map(|_| [rng.lowercase(), rng.lowercase(), rng.lowercase(), ' ']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_fixes_every_request_and_the_rate_is_kept() {
        let workload = Workload {
            rate: 50.0,
            length: Duration::from_secs(20),
            prompt_tokens: 20,
            output_tokens: 5,
            seed: 9,
        };
        let (a, b) = (workload.plan(), workload.plan());
        assert!(a.iter().zip(&b).all(|(a, b)| a.due == b.due && a.body == b.body));
        assert!((800..1200).contains(&a.len()), "{} requests in 20 s at 50 per second", a.len());
        assert_ne!(a[0].body, a[1].body);
    }
}
