//! Who can be chosen: the identity and the labels of a model-server replica.

use std::{collections::BTreeMap, fmt, net::SocketAddr, str::FromStr};

use serde::{Deserialize, Serialize};

/// An endpoint's identity: its IP address and port, in the spelling that Envoy uses for its hosts
/// (`10.0.0.5:8000`, `[fd00::5]:8000`). Address and port together; neither alone means anything.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Address(String);

/// The text is not `ip:port`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidAddress(String);

impl fmt::Display for InvalidAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is not an address of the form ip:port (IPv6 in brackets, port 1 to 65535)", self.0)
    }
}

impl std::error::Error for InvalidAddress {}

impl Address {
    /// `ip:port` as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Address {
    type Err = InvalidAddress;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.parse::<SocketAddr>() {
            Ok(address) if address.port() != 0 => Ok(Self(address.to_string())),
            _ => Err(InvalidAddress(text.to_owned())),
        }
    }
}

impl TryFrom<String> for Address {
    type Error = InvalidAddress;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Address> for String {
    fn from(address: Address) -> Self {
        address.0
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One addressable model-server replica: what is known of it before anything is measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    /// Where requests are sent, and the endpoint's identity.
    pub address: Address,
    /// What people call it, for instance the pod's name. Shown, never compared.
    pub name: String,
    /// Static facts, for instance `llm-d.ai/role: decode`.
    pub labels: BTreeMap<String, String>,
}
