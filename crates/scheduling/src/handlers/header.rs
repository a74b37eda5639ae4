//! `header-profile-handler`: a request header names the profile.

use serde::Deserialize;

use crate::{BuildContext, Context, Invalid, Plugin, ProfileHandler, Run};

/// See the module.
#[derive(Clone, Debug)]
pub struct HeaderProfileHandler {
    header: String,
    default: Option<usize>,
    profiles: Vec<String>,
}

/// Parameters of `header-profile-handler`.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Params {
    /// The request header whose value is the profile's name; the header's case does not matter, the
    /// value's does. Default `EPP-Profile`.
    #[serde(default = "default_header")]
    header_name: String,
    /// The profile of requests without the header. A pool with one profile always runs that. Default
    /// `decode`.
    #[serde(default = "default_profile")]
    default_profile: String,
}

fn default_header() -> String {
    "EPP-Profile".to_owned()
}

fn default_profile() -> String {
    "decode".to_owned()
}

impl Plugin for HeaderProfileHandler {
    const TYPE: &'static str = "header-profile-handler";
    const SUMMARY: &'static str =
        "Runs the profile that a request header names; a request that names an unknown one gets 400.";
    type Params = Params;

    fn build(params: Params, cx: &BuildContext<'_>) -> Result<Self, Vec<Invalid>> {
        let header = params.header_name.trim().to_ascii_lowercase();
        let mut invalid = Vec::new();
        if header.is_empty() {
            invalid.push(Invalid::new("headerName", "\"\"", "must name a header"));
        }
        let mut default = None;
        if cx.profiles.len() > 1 {
            match super::profile(&params.default_profile, "defaultProfile", cx) {
                Ok(index) => default = Some(index),
                Err(fault) => invalid.push(fault),
            }
        }
        if invalid.is_empty() {
            Ok(Self { header, default, profiles: cx.profiles.to_vec() })
        } else {
            Err(invalid)
        }
    }
}

impl ProfileHandler for HeaderProfileHandler {
    fn next(&self, cx: &Context<'_>, runs: &[Run]) -> Option<usize> {
        if !runs.is_empty() {
            return None;
        }
        // With one profile there is no default and nothing to choose.
        let default = self.default.map_or(Some(0), Some);
        match cx.request.header(&self.header) {
            Some(name) if self.default.is_some() => self.profiles.iter().position(|profile| profile == name),
            _ => default,
        }
    }

    fn primary(&self, runs: &[Run]) -> Option<usize> {
        (!runs.is_empty()).then_some(0)
    }

    fn no_profile(&self, cx: &Context<'_>) -> String {
        let value = cx.request.header(&self.header).unwrap_or_default();
        let known = self.profiles.join(", ");
        format!("header {} is {value:?}, which is no profile; there are {known}", self.header)
    }

    fn headers(&self) -> Vec<String> {
        vec![self.header.clone()]
    }
}
