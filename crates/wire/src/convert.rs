//! Between the protobuf feed and the data layer.
//!
//! Reading never fails as a whole: an endpoint with an address that is none, or a value that is not
//! finite, costs itself and is counted, and everything else is used.

use headroom_datalayer::{Address, Endpoint, Sample, Timestamp, Update, Value};

use crate::feed;

/// What a message held, and how much of it could not be used.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decoded {
    /// The usable part.
    pub update: Update,
    /// Endpoints and values that were dropped because they are not valid.
    pub dropped: usize,
}

/// Reads a snapshot. `to_local` turns the publisher's time into the reader's.
pub fn from_snapshot(snapshot: feed::Snapshot, to_local: &dyn Fn(Timestamp) -> Timestamp) -> Decoded {
    let mut decoded = Decoded::default();
    decoded.endpoints(snapshot.endpoints, to_local);
    decoded
}

/// Reads a delta. `to_local` turns the publisher's time into the reader's.
pub fn from_delta(delta: feed::Delta, to_local: &dyn Fn(Timestamp) -> Timestamp) -> Decoded {
    let mut decoded = Decoded::default();
    decoded.endpoints(delta.upserted, to_local);
    for text in delta.removed {
        match text.parse::<Address>() {
            Ok(address) => decoded.update.removed.push(address),
            Err(_) => decoded.dropped += 1,
        }
    }
    for changed in delta.samples {
        let Ok(address) = changed.address.parse::<Address>() else {
            decoded.dropped += 1;
            continue;
        };
        decoded.samples(&address, changed.samples, to_local);
        decoded.update.samples.extend(changed.cleared.into_iter().map(|key| (address.clone(), key, None)));
    }
    decoded
}

impl Decoded {
    fn endpoints(&mut self, endpoints: Vec<feed::Endpoint>, to_local: &dyn Fn(Timestamp) -> Timestamp) {
        for endpoint in endpoints {
            let Ok(address) = endpoint.address.parse::<Address>() else {
                self.dropped += 1;
                continue;
            };
            self.samples(&address, endpoint.samples, to_local);
            self.update.upserted.push(Endpoint {
                address,
                name: endpoint.name,
                labels: endpoint.labels.into_iter().collect(),
            });
        }
    }

    fn samples(
        &mut self,
        address: &Address,
        samples: Vec<feed::Sample>,
        to_local: &dyn Fn(Timestamp) -> Timestamp,
    ) {
        for sample in samples {
            let value = match sample.value {
                Some(feed::sample::Value::Number(number)) => Value::number(number),
                Some(feed::sample::Value::Names(names)) => Some(Value::Names(names.names)),
                None => None,
            };
            match value {
                Some(value) => {
                    let measured_at = to_local(Timestamp::from_micros(sample.measured_at_us));
                    self.update.samples.push((
                        address.clone(),
                        sample.attribute,
                        Some(Sample { value, measured_at }),
                    ));
                }
                None => self.dropped += 1,
            }
        }
    }
}

/// Writes one sample.
pub fn to_sample(attribute: &str, sample: &Sample) -> feed::Sample {
    let value = match &sample.value {
        Value::Number(number) => feed::sample::Value::Number(f64::from(*number)),
        Value::Names(names) => feed::sample::Value::Names(feed::Names { names: names.clone() }),
    };
    feed::Sample {
        attribute: attribute.to_owned(),
        value: Some(value),
        measured_at_us: sample.measured_at.as_micros(),
    }
}

/// Writes one endpoint with what is known of it.
pub fn to_endpoint<'a>(
    endpoint: &Endpoint,
    samples: impl IntoIterator<Item = (&'a String, &'a Sample)>,
) -> feed::Endpoint {
    feed::Endpoint {
        address: endpoint.address.as_str().to_owned(),
        name: endpoint.name.clone(),
        labels: endpoint.labels.clone().into_iter().collect(),
        samples: samples.into_iter().map(|(key, sample)| to_sample(key, sample)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(attribute: &str, number: f64) -> feed::Sample {
        feed::Sample {
            attribute: attribute.to_owned(),
            value: Some(feed::sample::Value::Number(number)),
            measured_at_us: 1_000,
        }
    }

    #[test]
    fn a_broken_part_costs_itself_and_nothing_else() {
        let endpoint = |address: &str| feed::Endpoint {
            address: address.to_owned(),
            samples: vec![sample("good", 1.0), sample("bad", f64::NAN), sample("worse", f64::INFINITY)],
            ..feed::Endpoint::default()
        };
        let snapshot = feed::Snapshot {
            endpoints: vec![endpoint("10.0.0.1:80"), endpoint("not-an-address"), endpoint("[::1]:81")],
            ..feed::Snapshot::default()
        };
        let decoded = from_snapshot(snapshot, &|t| t.offset(-400));
        assert_eq!(decoded.dropped, 1 + 2 * 2);
        assert_eq!(decoded.update.upserted.len(), 2);
        let times: Vec<_> = decoded
            .update
            .samples
            .iter()
            .map(|(a, key, s)| (a.as_str(), key.as_str(), s.as_ref().expect("set").measured_at.as_micros()))
            .collect();
        assert_eq!(times, [("10.0.0.1:80", "good", 600), ("[::1]:81", "good", 600)]);
    }

    #[test]
    fn an_endpoint_reads_back_as_it_was_written() {
        let endpoint = Endpoint {
            address: "10.0.0.1:80".parse().expect("valid"),
            name: "pod".into(),
            labels: [("a".to_owned(), "b".to_owned())].into(),
        };
        // That no adapter waits is a value, too.
        let samples = [("ServedModels", vec!["m".to_owned()]), ("WaitingModels", Vec::new())]
            .map(|(name, names)| (name.to_owned(), Value::Names(names)))
            .map(|(name, value)| (name, Sample { value, measured_at: Timestamp::from_micros(5) }));
        let samples = std::collections::BTreeMap::from(samples);
        let written =
            feed::Snapshot { endpoints: vec![to_endpoint(&endpoint, &samples)], ..Default::default() };
        let read = from_snapshot(written, &|t| t);
        assert_eq!(read.update.upserted, vec![endpoint.clone()]);
        let expected =
            samples.into_iter().map(|(name, sample)| (endpoint.address.clone(), name, Some(sample)));
        assert_eq!(read.update.samples, expected.collect::<Vec<_>>());
    }
}
