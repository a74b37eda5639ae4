//! The stream's life: when to open it, when to give it up, how long to wait before the next.

use headroom_datalayer::{Span, Timestamp};

/// Wait before the first reconnect; doubles up to [`LONGEST_WAIT`].
const SHORTEST_WAIT: Span = Span::from_millis(100);
/// A companion that is back is found within this time.
const LONGEST_WAIT: Span = Span::from_secs(2);

/// What to do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Nothing,
    Open,
    GiveUp,
}

#[derive(Debug)]
enum State {
    Down { retry_at: Timestamp },
    Up { token: u32, heard_at: Timestamp, live: bool },
}

/// See the module.
#[derive(Debug)]
pub(super) struct Link {
    state: State,
    silence: Span,
    wait: Span,
}

impl Link {
    pub(super) fn new(silence: Span) -> Self {
        Self { state: State::Down { retry_at: Timestamp::default() }, silence, wait: SHORTEST_WAIT }
    }

    pub(super) fn token(&self) -> Option<u32> {
        match self.state {
            State::Up { token, .. } => Some(token),
            State::Down { .. } => None,
        }
    }

    pub(super) fn is(&self, token: u32) -> bool {
        self.token() == Some(token)
    }

    pub(super) fn on_tick(&self, now: Timestamp) -> Next {
        match self.state {
            // The second conditions: the clock was set back.
            State::Down { retry_at } if now >= retry_at || retry_at.since(now) > LONGEST_WAIT => Next::Open,
            State::Up { heard_at, .. }
                if now.since(heard_at) > self.silence || heard_at.since(now) > self.silence =>
            {
                Next::GiveUp
            }
            State::Down { .. } | State::Up { .. } => Next::Nothing,
        }
    }

    pub(super) fn opened(&mut self, token: u32, now: Timestamp) {
        self.state = State::Up { token, heard_at: now, live: false };
    }

    /// Whether something has arrived on the open stream: Envoy does not tell when one is connected.
    pub(super) fn is_live(&self) -> bool {
        matches!(self.state, State::Up { live: true, .. })
    }

    /// Something has arrived.
    pub(super) fn on_message(&mut self, now: Timestamp) {
        self.wait = SHORTEST_WAIT;
        if let State::Up { heard_at, live, .. } = &mut self.state {
            (*heard_at, *live) = (now, true);
        }
    }

    /// The stream is gone; the next is opened after a wait of random length.
    pub(super) fn ended(&mut self, now: Timestamp, rng: &mut fastrand::Rng) {
        let longest = self.wait.as_micros();
        let wait = Span::from_micros(rng.u64(longest / 2..=longest));
        self.state = State::Down { retry_at: now.plus(wait) };
        self.wait = Span::from_micros(longest.saturating_mul(2).min(LONGEST_WAIT.as_micros()));
    }
}
