//! The GPUs of one exporter scrape.

use std::collections::{BTreeMap, BTreeSet};

use headroom_datalayer::Timestamp;
use headroom_exposition::{Label, Parsed};

use super::{
    GpuSelector,
    dcgm::{BLANK, ROWS, Row},
    selector::{hostname, label, pci_bus_id, slice, uuid},
};
use crate::extract::{Cell, Facts, combine, measured_at};

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
    /// One cell for each of [`ROWS`].
    cells: Vec<Option<Cell>>,
}

/// Every GPU that a scrape lists.
#[derive(Debug, Default)]
pub(crate) struct Inventory<'p> {
    units: Vec<Unit>,
    listings: BTreeMap<&'p [Label<'p>], Listing>,
    cards_with_slices: BTreeSet<String>,
}

/// What one scrape says of one endpoint's GPUs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GpuExtraction {
    /// The attributes.
    pub(crate) facts: Facts,
    /// Whether any GPU was the endpoint's.
    pub(crate) matched: bool,
    /// Whether what is not in `facts` is gone. Where a selector by labels found nothing, the labels may
    /// be missing for this one scrape: earlier values are left to age.
    pub(crate) complete: bool,
}

impl<'p> Inventory<'p> {
    /// Collects the GPUs of a scrape that was sent at `sent_at`.
    pub(crate) fn new(parsed: &'p Parsed<'p>, sent_at: Timestamp) -> Self {
        let mut inventory = Self::default();
        let mut unit_index: BTreeMap<Unit, usize> = BTreeMap::new();
        for sample in &parsed.samples {
            let Some(row) = ROWS.iter().position(|row| row.metric == sample.name) else { continue };
            let Some(unit) = Unit::of(&sample.labels) else { continue };
            let value = Some(sample.value).filter(|value| *value < BLANK);
            let cell = match value.and_then(|value| ROWS.get(row).and_then(|row| row.read(value))) {
                Some(value) => Cell::Value(value, measured_at(sample, sent_at)),
                None => Cell::Invalid,
            };
            let index = *unit_index.entry(unit).or_insert_with_key(|unit| {
                inventory.units.push(unit.clone());
                inventory.units.len() - 1
            });
            let listing = inventory
                .listings
                .entry(&sample.labels)
                .or_insert_with(|| Listing { unit: index, cells: vec![None; ROWS.len()] });
            if let Some(place @ None) = listing.cells.get_mut(row) {
                *place = Some(cell);
            }
        }
        inventory.cards_with_slices = inventory
            .units
            .iter()
            .filter(|unit| unit.slice.is_some())
            .map(|unit| unit.card.clone())
            .collect();
        inventory
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
        let mut facts = Facts::new();
        for row in ROWS {
            if !facts.contains_key(row.attribute)
                && let Some(sample) = combine(row.attribute, self.cards(row.attribute, &matched))
            {
                facts.insert(row.attribute, sample);
            }
        }
        let is_matched = !matched.is_empty();
        GpuExtraction { facts, matched: is_matched, complete: is_matched || selector.is_lasting() }
    }

    /// How many units have no owner. The line of a whole card whose slices are listed too is nobody's.
    pub(crate) fn unowned(&self, owned: &BTreeSet<usize>) -> usize {
        let is_free = |(index, unit): &(usize, &Unit)| {
            !owned.contains(index) && (unit.slice.is_some() || !self.cards_with_slices.contains(&unit.card))
        };
        self.units.iter().enumerate().filter(is_free).count()
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
        let is_mig = unit.slice.is_some() || self.cards_with_slices.contains(&unit.card);
        let mut found = None;
        for (index, row) in ROWS.iter().enumerate() {
            if row.attribute != attribute || (is_mig && !row.on_mig) {
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
        let card = match (uuid(labels), pci_bus_id(labels), label(labels, "gpu")) {
            (Some(uuid), ..) => uuid.to_ascii_lowercase(),
            (None, Some(slot), _) => format!("{slot:?}"),
            (None, None, Some(index)) => format!("{}/{index}", hostname(labels).unwrap_or_default()),
            (None, None, None) => return None,
        };
        let slice = slice(labels).map(str::to_owned);
        Some(Self { card, slice })
    }
}

impl Row {
    fn read(&self, value: f64) -> Option<f64> {
        self.range.check(value).map(|value| value * self.scale)
    }
}
