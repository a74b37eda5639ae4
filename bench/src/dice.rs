//! Chance that is the same on every target.

use fastrand::Rng;

/// A generator that draws no `usize`: fastrand's draws of it depend on the width of a pointer.
#[derive(Clone, Debug)]
pub struct Dice(Rng);

impl Dice {
    /// The same seed gives the same draws.
    pub fn new(seed: u64) -> Self {
        Self(Rng::with_seed(seed))
    }

    /// Any number.
    pub fn bits(&mut self) -> u64 {
        self.0.u64(..)
    }

    /// From 0 up to `end`, without it; 0 if that is 0.
    pub fn below(&mut self, end: u64) -> u64 {
        if end == 0 { 0 } else { self.0.u64(..end) }
    }

    /// An index into something of this length.
    pub fn index(&mut self, length: usize) -> usize {
        let length = u64::try_from(length).unwrap_or(u64::MAX);
        usize::try_from(self.below(length)).unwrap_or_default()
    }

    /// From 0 up to 1, without it.
    pub fn share(&mut self) -> f64 {
        self.0.f64()
    }

    /// True this share of the time.
    pub fn chance(&mut self, share: f64) -> bool {
        self.share() < share
    }

    /// One of `options`, or the default of their type if there are none.
    pub fn one<T: Copy + Default>(&mut self, options: &[T]) -> T {
        options.get(self.index(options.len())).copied().unwrap_or_default()
    }

    /// `count` different ones of `options`, in any order; all if there are fewer.
    pub fn some<T: Copy>(&mut self, options: &[T], count: usize) -> Vec<T> {
        let mut left = options.to_vec();
        let mut taken = Vec::new();
        while taken.len() < count && !left.is_empty() {
            let at = self.index(left.len());
            taken.push(left.swap_remove(at));
        }
        taken
    }
}
