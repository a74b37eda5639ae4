//! From a path in the plugin's config back to the path in llm-d's.

/// Where the parts of a converted config come from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origins {
    /// Index in llm-d's `plugins`, by index in ours.
    pub(super) plugins: Vec<usize>,
    /// Index in a profile's `plugins` of llm-d's, by profile and index in ours.
    pub(super) references: Vec<Vec<usize>>,
}

impl Origins {
    /// The path in llm-d's config.
    pub(crate) fn place(&self, path: &str) -> String {
        let Some(path) = path.strip_prefix("pools[0].") else { return path.to_owned() };
        if let Some((index, rest)) = indexed(path, "plugins") {
            return match self.plugins.get(index) {
                Some(origin) => format!("plugins[{origin}]{rest}"),
                None => path.to_owned(),
            };
        }
        if let Some((profile, rest)) = indexed(path, "schedulingProfiles")
            && let Some((reference, rest)) = indexed(rest.trim_start_matches('.'), "plugins")
            && let Some(origin) = self.references.get(profile).and_then(|origins| origins.get(reference))
        {
            return format!("schedulingProfiles[{profile}].plugins[{origin}]{rest}");
        }
        path.to_owned()
    }
}

/// Splits `key[3]rest`.
fn indexed<'a>(path: &'a str, key: &str) -> Option<(usize, &'a str)> {
    let (index, rest) = path.strip_prefix(key)?.strip_prefix('[')?.split_once(']')?;
    Some((index.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_back_past_what_was_left_out() {
        let origins = Origins { plugins: vec![1, 4], references: vec![vec![0], vec![2]] };
        for (path, want) in [
            ("pools[0].plugins[1].parameters.x", "plugins[4].parameters.x"),
            ("pools[0].schedulingProfiles[1].plugins[0].weight", "schedulingProfiles[1].plugins[2].weight"),
            ("pools[0].schedulingProfiles", "schedulingProfiles"),
            ("pools[0].plugins[7].type", "plugins[7].type"),
            ("feed.cluster", "feed.cluster"),
        ] {
            assert_eq!(origins.place(path), want);
        }
    }
}
