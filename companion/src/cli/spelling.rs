//! What a name that nobody knows was probably meant to be.

/// The one of `known` that `name` nearly is, whatever the case; `None` when it is one, or far from all.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    if known.clone().any(|known| known == name) {
        return None;
    }
    let distances = known.map(|known| (distance(&known.to_lowercase(), &name.to_lowercase()), known));
    distances.filter(|(distance, _)| *distance <= 2).min().map(|(_, known)| known)
}

/// Levenshtein's distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (at, left) in a.chars().enumerate() {
        let mut next = vec![at + 1];
        for (right, pair) in b.iter().zip(row.windows(2)) {
            let [diagonal, above] = pair else { continue };
            let before = next.last().copied().unwrap_or_default();
            next.push((diagonal + usize::from(left != *right)).min(above + 1).min(before + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_misses_are_recognised_and_others_left_alone() {
        let known = ["GPUUtilization", "WaitingQueueSize", "custom.queue_depth"];
        for (name, meant) in [
            ("GPUUtilisation", Some("GPUUtilization")),
            ("waitingqueuesize", Some("WaitingQueueSize")),
            ("WaitingQueueSize", None),
            ("custom.queue_dept", Some("custom.queue_depth")),
            ("custom.my_metric", None),
            ("Temperature", None),
        ] {
            assert_eq!(nearest(name, known.into_iter()), meant, "{name}");
        }
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
