//! The text of an endpoint file to members.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    config::{EndpointDefaults, parse_endpoint, parse_tree},
    discovery::Member,
};

/// What a file says.
#[derive(Debug, Default)]
pub(super) struct Entries {
    /// The endpoints.
    pub(super) members: Vec<Member>,
    /// The endpoints by the name that they have in the file, or their address where they have none.
    pub(super) named: BTreeMap<String, Member>,
    /// What is wrong, entry by entry.
    pub(super) problems: Vec<String>,
}

/// Reads a file. An entry that is wrong is reported, and is what `known` has under its name, if anything.
///
/// # Errors
/// When the file as a whole cannot be read; it then says nothing.
pub(super) fn read(
    text: &str,
    defaults: &EndpointDefaults,
    known: &BTreeMap<String, Member>,
) -> Result<Entries, String> {
    let tree = parse_tree(text).map_err(|errors| errors.to_string())?;
    let Some(list) = tree.get("endpoints") else {
        return Err("the file must have a key \"endpoints\"; an empty list there is no endpoint".to_owned());
    };
    let Value::Array(list) = list else { return Err("endpoints: must be a list".to_owned()) };
    let mut entries = Entries::default();
    for key in tree.as_object().into_iter().flat_map(|tree| tree.keys()).filter(|key| *key != "endpoints") {
        entries.problems.push(format!("{key}: is not used; the file has one key, \"endpoints\""));
    }
    for (index, entry) in list.iter().enumerate() {
        let path = format!("endpoints[{index}]");
        let name = ["name", "address"].into_iter().find_map(|key| entry.get(key)?.as_str());
        let member = match parse_endpoint(&path, entry.clone(), defaults) {
            Ok(member) => Some(member),
            Err(errors) => {
                entries.problems.extend(errors.iter().map(ToString::to_string));
                name.and_then(|name| known.get(name)).cloned()
            }
        };
        if let Some(member) = member {
            entries.named.insert(name.unwrap_or_default().to_owned(), member.clone());
            entries.members.push(member);
        }
    }
    Ok(entries)
}
