//! Whose fault a bad answer is.

use headroom_datalayer::Address;

/// A response as far as it says whether an endpoint works.
#[derive(Clone, Copy, Debug, Default)]
pub struct Response<'a> {
    /// Address of the endpoint that answered, or was tried last; `None` when there was none.
    pub upstream: Option<&'a str>,
    /// HTTP status, of the endpoint or of the proxy in its place.
    pub status: Option<u16>,
}

/// The proxy tries the endpoints of a request's list in order, one an attempt.
#[derive(Clone, Debug, Default)]
pub(super) struct Attempts {
    list: Vec<Address>,
    /// Who answered, and whether well.
    answer: Option<(Address, bool)>,
}

/// Statuses that say that the endpoint does not work, not that the request is wrong.
const FAILURES: [u16; 4] = [500, 502, 503, 504];

impl Attempts {
    pub(super) fn new(list: Vec<Address>) -> Self {
        Self { list, answer: None }
    }

    /// The endpoint that was chosen.
    pub(super) fn choice(&self) -> Option<&Address> {
        self.list.first()
    }

    /// Takes the answer of `served_by` and gives those that have failed, each once.
    pub(super) fn answered(&mut self, served_by: &Address, status: Option<u16>) -> Vec<Address> {
        let well = status.is_none_or(|status| !FAILURES.contains(&status));
        self.answer = Some((served_by.clone(), well));
        let before = self.list.iter().position(|address| address == served_by).unwrap_or(0);
        let mut failed: Vec<Address> = Vec::new();
        for address in self.list.iter().take(before).chain((!well).then_some(served_by)) {
            if !failed.contains(address) {
                failed.push(address.clone());
            }
        }
        failed
    }

    /// The exchange has ended: who answered well to begin with, and whether it `broke` off since.
    pub(super) fn ended(&mut self, broke: bool) -> Option<(Address, bool)> {
        let (address, _) = self.answer.take().filter(|(_, well)| *well)?;
        Some((address, !broke))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::address;

    #[test]
    fn those_before_the_one_that_answered_have_failed_and_it_if_it_says_so() {
        let list = || Attempts::new(vec![address(1), address(2), address(1), address(2)]);
        assert_eq!(list().answered(&address(1), Some(200)), []);
        assert_eq!(list().answered(&address(1), Some(429)), [], "busy is not broken");
        assert_eq!(list().answered(&address(2), Some(200)), [address(1)]);
        assert_eq!(list().answered(&address(2), Some(503)), [address(1), address(2)]);
        assert_eq!(list().answered(&address(9), Some(200)), [], "not of the list: nothing is known");
    }

    #[test]
    fn an_answer_is_good_once_it_is_whole() {
        for (status, broke, want) in [
            (200, false, Some((address(1), true))),
            (200, true, Some((address(1), false))),
            (502, true, None),
        ] {
            let mut attempts = Attempts::new(vec![address(1)]);
            attempts.answered(&address(1), Some(status));
            assert_eq!(attempts.ended(broke), want);
            assert_eq!(attempts.ended(broke), None, "once");
        }
        assert_eq!(Attempts::default().ended(true), None);
    }
}
