//! The GPUs of one exporter scrape.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use headroom_exposition::{Label, Sample};

use super::{
    Card, EXPORTERS, ExporterTable, GpuSelector, Refresh,
    labels::{has_owner, hostname, index, owner, partition, pci_bus_id, slice, uuid},
    table::Row,
};
use crate::extract::{Cell, Facts, Families, combine};

/// A whole card, or one MIG slice of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Unit {
    card: String,
    slice: Option<String>,
}

/// The samples of one unit that carry the same labels, that is: the unit as one owner sees it.
#[derive(Debug)]
struct Listing {
    unit: usize,
    /// One cell for each row of the exporter's table.
    cells: Vec<Option<Cell>>,
}

/// Every GPU that a scrape lists.
#[derive(Debug)]
pub(crate) struct Inventory<'p> {
    exporter: Option<&'static ExporterTable>,
    units: Vec<Unit>,
    listings: BTreeMap<&'p [Label<'p>], Listing>,
    cards_with_slices: BTreeSet<String>,
    without_identity: usize,
    notes: Vec<String>,
}

/// What one scrape says of one endpoint's GPUs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GpuExtraction {
    /// The attributes.
    pub(crate) facts: Facts,
    /// How many cards and slices are the endpoint's.
    pub(crate) matched: usize,
    /// How many that the config names one by one are not listed.
    pub(crate) absent: usize,
    /// Whether what is not in `facts` is gone. Where a selector by labels found nothing, the labels may
    /// be missing for this one scrape: earlier values are left to age.
    pub(crate) complete: bool,
}

impl GpuExtraction {
    /// What is amiss with the GPUs of the endpoint that people call `endpoint`.
    pub(crate) fn note(&self, endpoint: &str) -> Option<String> {
        match (self.matched, self.absent) {
            (0, _) => Some(format!("no GPU here is that of endpoint {endpoint}")),
            (_, 0) => None,
            (_, absent) => Some(format!("{absent} of the GPUs of endpoint {endpoint} are not listed here")),
        }
    }
}

/// How many GPUs of a scrape belong to no endpoint, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unmatched {
    /// No label says whose the GPU is, and no endpoint names it.
    pub(crate) no_owner: usize,
    /// It belongs to somebody who is no endpoint.
    pub(crate) other_owner: usize,
    /// The line of a whole card that is cut into slices.
    pub(crate) sliced_card: usize,
    /// Samples without a UUID, a slot or a number.
    pub(crate) no_identity: usize,
}

impl Unmatched {
    /// Each reason and how many there are.
    pub(crate) fn by_reason(self) -> [(&'static str, usize); 4] {
        [
            ("no_owner", self.no_owner),
            ("other_owner", self.other_owner),
            ("sliced_card", self.sliced_card),
            ("no_identity", self.no_identity),
        ]
    }
}

impl<'p> Inventory<'p> {
    /// Collects the GPUs of a scrape. `refresh` knows the exporter's earlier scrapes, and it measures anew every
    /// `period`.
    pub(crate) fn new(families: &Families<'p>, refresh: &mut Refresh, period: Duration) -> Self {
        let known =
            |table: &&ExporterTable| table.rows.iter().any(|row| !families.series("", row.metric).is_empty());
        let exporter = EXPORTERS.iter().find(known);
        let mut inventory = Self {
            exporter,
            units: Vec::new(),
            listings: BTreeMap::new(),
            cards_with_slices: BTreeSet::new(),
            without_identity: 0,
            notes: Vec::new(),
        };
        let Some(table) = exporter else { return inventory };
        let samples = || table.rows.iter().flat_map(|row| families.series("", row.metric));
        let measured_at = refresh.measured_at(samples().copied(), families.sent_at, period);
        let mut unit_index: BTreeMap<Unit, usize> = BTreeMap::new();
        for (number, row) in table.rows.iter().enumerate() {
            let (mut blank, mut impossible) = (0, 0);
            for sample in families.series("", row.metric) {
                let at = match sample.timestamp_micros {
                    Some(_) => families.measured_at(sample),
                    None => measured_at,
                };
                let cell = match row.read(sample.value) {
                    _ if sample.value >= table.blank => {
                        blank += 1;
                        Cell::Invalid
                    }
                    Some(value) => Cell::Value(value, at),
                    None => {
                        impossible += 1;
                        Cell::Invalid
                    }
                };
                inventory.add(sample, number, table.rows.len(), cell, &mut unit_index);
            }
            inventory.note(row, blank, "the exporter's \"no value\"");
            inventory.note(row, impossible, "no possible value");
        }
        inventory.cards_with_slices = inventory
            .units
            .iter()
            .filter(|unit| unit.slice.is_some())
            .map(|unit| unit.card.clone())
            .collect();
        inventory
    }

    fn add(
        &mut self,
        sample: &'p Sample<'p>,
        row: usize,
        rows: usize,
        cell: Cell,
        unit_index: &mut BTreeMap<Unit, usize>,
    ) {
        let Some(unit) = Unit::of(&sample.labels) else {
            self.without_identity += 1;
            return;
        };
        let units = &mut self.units;
        let unit = *unit_index.entry(unit).or_insert_with_key(|unit| {
            units.push(unit.clone());
            units.len() - 1
        });
        let fresh = || Listing { unit, cells: vec![None; rows] };
        let listing = self.listings.entry(&sample.labels).or_insert_with(fresh);
        if let Some(place @ None) = listing.cells.get_mut(row) {
            *place = Some(cell);
        }
    }

    fn note(&mut self, row: &Row, count: usize, what: &str) {
        if count > 0 {
            self.notes
                .push(format!("{} has {what} for {count} of its series, which are not used", row.metric));
        }
    }

    /// What was there and could not be used, and why.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// What the exporter is, if it is known.
    pub(crate) fn exporter(&self) -> Option<&'static str> {
        self.exporter.map(|table| table.name)
    }

    /// Whether the scrape lists any GPU.
    pub(crate) fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// The attributes of the GPUs that `selector` names; `owned` collects the units that have an owner.
    pub(crate) fn extract(&self, selector: &GpuSelector, owned: &mut BTreeSet<usize>) -> GpuExtraction {
        let mut matched: BTreeMap<&Unit, Vec<&Listing>> = BTreeMap::new();
        for (labels, listing) in &self.listings {
            if selector.matches(labels)
                && let Some(unit) = self.units.get(listing.unit)
            {
                owned.insert(listing.unit);
                matched.entry(unit).or_default().push(listing);
            }
        }
        let cards: BTreeSet<&str> = matched.keys().map(|unit| unit.card.as_str()).collect();
        let found = if matches!(selector, GpuSelector::Mig(_)) { matched.len() } else { cards.len() };
        let absent = selector.named().saturating_sub(found);
        let mut facts = Facts::new();
        for row in self.rows() {
            if facts.contains_key(row.attribute) {
                continue;
            }
            // A card that should be there and is not has no value: a sum without it would not be the sum.
            let lost = std::iter::repeat_n(Cell::Invalid, absent);
            if let Some(sample) =
                combine(row.attribute, self.cards(row.attribute, &matched).into_iter().chain(lost))
            {
                facts.insert(Cow::Borrowed(row.attribute), sample);
            }
        }
        let complete = !matched.is_empty() || selector.is_lasting();
        GpuExtraction { facts, matched: matched.len(), absent, complete }
    }

    /// Everybody whom the scrape names as the owner of a GPU, and every GPU that nobody owns, each with its selector.
    pub(crate) fn owners(&self) -> BTreeMap<String, GpuSelector> {
        let mut owners = BTreeMap::new();
        for (labels, listing) in &self.listings {
            let Some(unit) = self.units.get(listing.unit) else { continue };
            let owner = |name: &str| owner(labels, name).map(|value| (name.to_owned(), value.to_owned()));
            let pod: BTreeMap<String, String> = ["namespace", "pod"].into_iter().filter_map(owner).collect();
            let (name, selector) = match (pod.contains_key("pod"), owner("hpc_job")) {
                (true, _) => {
                    let name: Vec<&str> = pod.values().map(String::as_str).collect();
                    (name.join("/"), GpuSelector::Labels(pod))
                }
                (false, Some(job)) => (format!("job {}", job.1), GpuSelector::Labels([job].into())),
                (false, None) => match uuid(labels).zip(slice(labels)) {
                    Some((card, id)) => {
                        let slices = id.parse().ok().map(|id| (Card::parse(card), id)).into_iter().collect();
                        (format!("{card} slice {id}"), GpuSelector::Mig(slices))
                    }
                    None => (unit.card.clone(), GpuSelector::Uuids([unit.card.clone()].into())),
                },
            };
            owners.insert(name, selector);
        }
        owners
    }

    /// How many units have no endpoint, and why.
    pub(crate) fn unmatched(&self, owned: &BTreeSet<usize>) -> Unmatched {
        let mut unmatched = Unmatched { no_identity: self.without_identity, ..Unmatched::default() };
        let named: BTreeSet<usize> = self
            .listings
            .iter()
            .filter(|(labels, _)| has_owner(labels))
            .map(|(_, listing)| listing.unit)
            .collect();
        for (index, unit) in self.units.iter().enumerate().filter(|(index, _)| !owned.contains(index)) {
            let count = if unit.slice.is_none() && self.cards_with_slices.contains(&unit.card) {
                &mut unmatched.sliced_card
            } else if named.contains(&index) {
                &mut unmatched.other_owner
            } else {
                &mut unmatched.no_owner
            };
            *count += 1;
        }
        unmatched
    }

    fn rows(&self) -> &'static [Row] {
        self.exporter.map(|table| table.rows).unwrap_or_default()
    }

    /// One cell for each card: the whole card's own, else what its slices give together. A card
    /// without the metric counts as one without a value once any other has it.
    fn cards(&self, attribute: &str, matched: &BTreeMap<&Unit, Vec<&Listing>>) -> Vec<Cell> {
        let mut cards: BTreeMap<&str, (Option<Cell>, Vec<Cell>)> = BTreeMap::new();
        for (unit, listings) in matched {
            let cell = self.cell(attribute, unit, listings);
            let (whole, slices) = cards.entry(&unit.card).or_default();
            match unit.slice {
                None => *whole = cell,
                Some(_) => slices.push(cell.unwrap_or(Cell::Invalid)),
            }
        }
        let cell = |(whole, slices): (Option<Cell>, Vec<Cell>)| match whole {
            Some(Cell::Value(value, at)) => Cell::Value(value, at),
            _ => match combine(attribute, slices)
                .and_then(|sample| Some((sample.value.as_number()?, sample.measured_at)))
            {
                Some((value, at)) => Cell::Value(value, at),
                None => Cell::Invalid,
            },
        };
        cards.into_values().map(cell).collect()
    }

    /// What a unit says of an attribute, by the first row that has a value; however often it is
    /// listed, it counts once.
    fn cell(&self, attribute: &str, unit: &Unit, listings: &[&Listing]) -> Option<Cell> {
        let is_sliced = unit.slice.is_some() || self.cards_with_slices.contains(&unit.card);
        let mut found = None;
        for (index, row) in self.rows().iter().enumerate() {
            if row.attribute != attribute || (is_sliced && !row.on_slices) {
                continue;
            }
            for cell in listings.iter().filter_map(|listing| listing.cells.get(index).copied().flatten()) {
                match cell {
                    Cell::Value(..) => return Some(cell),
                    Cell::Invalid => found = Some(Cell::Invalid),
                }
            }
        }
        found
    }
}

impl Unit {
    fn of(labels: &[Label<'_>]) -> Option<Self> {
        let card = match (uuid(labels), pci_bus_id(labels), index(labels)) {
            (Some(uuid), ..) => uuid.to_ascii_lowercase(),
            (None, Some(slot), _) => format!("{slot:?}"),
            (None, None, Some(index)) => format!("{}/{index}", hostname(labels).unwrap_or_default()),
            (None, None, None) => return None,
        };
        let card = partition(labels).map_or_else(|| card.clone(), |partition| format!("{card}/{partition}"));
        Some(Self { card, slice: slice(labels).map(str::to_owned) })
    }
}
