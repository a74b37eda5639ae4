//! The ways of balancing that are compared.

/// Who chooses the endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum Policy {
    /// The filter, as `envoy/envoy.yaml` configures it.
    Headroom,
    /// Envoy's `round_robin`.
    RoundRobin,
    /// Envoy's `least_request`.
    LeastRequest,
}

impl Policy {
    /// The order in which they run. Headroom last: its processes are the ones to keep.
    pub(crate) const ORDER: [Self; 3] = [Self::RoundRobin, Self::LeastRequest, Self::Headroom];

    /// Its name in the JSON, and for Envoy's own policies in Envoy's config.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Headroom => "headroom",
            Self::RoundRobin => "round_robin",
            Self::LeastRequest => "least_request",
        }
    }

    /// Its name for people.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Headroom => "Headroom",
            Self::RoundRobin => "round robin",
            Self::LeastRequest => "least request",
        }
    }
}
