//! A pool's scheduler, from the short form or from llm-d's.

use std::{collections::BTreeMap, rc::Rc};

use headroom_datalayer::SpanText;
use headroom_scheduling::{
    BuildContext, Decider, NamedFilter, NamedScorer, Picker, Plugin, Profile, ProfileHandler, Scheduler,
    handlers::SingleProfileHandler, pickers::MaxScorePicker, scorers,
};
use serde_json::json;

use super::entry::{Faults, Read, unique};
use super::raw::{self, PluginEntry, SchedulingProfile};
use crate::registry::{DECIDERS, Entry, FILTERS, HANDLERS, PICKERS, SCORERS};

/// Makes the scheduler, or says what is wrong.
pub(super) fn scheduler(pool: &mut raw::Pool, path: &str, faults: &mut Faults) -> Option<Scheduler> {
    let before = faults.0.len();
    let exploration = pool.exploration_probability;
    if !(0.0..=1.0).contains(&exploration) {
        faults.add(format!("{path}.explorationProbability"), exploration, "must be between 0 and 1");
    }
    let plugins = std::mem::take(&mut pool.plugins);
    let profiles = std::mem::take(&mut pool.scheduling_profiles);
    let scheduler = if plugins.is_empty() && profiles.is_empty() {
        short_form(pool, path, faults)
    } else {
        if !pool.filters.is_empty() || !pool.scorers.is_empty() || pool.picker.is_some() {
            let reason = "give either plugins and schedulingProfiles, or filters, scorers and picker";
            faults.add(format!("{path}.plugins"), "", reason);
        }
        Form::new(plugins, profiles, &pool.max_age, exploration, path, faults).scheduler()
    };
    scheduler.filter(|_| faults.0.len() == before)
}

fn default_scorers() -> Vec<PluginEntry> {
    let entry = |kind: &str, weight: f64| {
        let entry = [("type".to_owned(), json!(kind)), ("weight".to_owned(), json!(weight))];
        PluginEntry(entry.into_iter().collect())
    };
    vec![
        entry(scorers::QueueScorer::TYPE, 2.0),
        entry(scorers::KvCacheUtilizationScorer::TYPE, 2.0),
        entry(scorers::RunningRequestsSizeScorer::TYPE, 1.0),
        entry(scorers::ActiveRequestScorer::TYPE, 1.0),
    ]
}

fn default_picker() -> Box<dyn Picker> {
    Box::new(MaxScorePicker::default())
}

/// What a pool's profile is called that has no name.
const DEFAULT_PROFILE: &str = "default";

/// `filters`, `scorers`, `picker`: one profile.
fn short_form(pool: &mut raw::Pool, path: &str, faults: &mut Faults) -> Option<Scheduler> {
    let (names, deciders) = ([DEFAULT_PROFILE.to_owned()], BTreeMap::new());
    let cx = BuildContext { max_age: &pool.max_age, profiles: &names, deciders: &deciders };
    let mut filters = Vec::new();
    for (index, entry) in std::mem::take(&mut pool.filters).into_iter().enumerate() {
        let Some(read) = Read::new(entry, None, format!("{path}.filters[{index}]"), faults) else { continue };
        read.refuse_weight("a filter", faults);
        let made = read.make(FILTERS, &cx, faults);
        filters.extend(made.map(|filter| NamedFilter { name: read.name, filter }));
    }
    let mut entries = std::mem::take(&mut pool.scorers);
    if entries.is_empty() {
        entries = default_scorers();
    }
    let mut scorers = Vec::new();
    for (index, entry) in entries.into_iter().enumerate() {
        let implied = entry.0.contains_key("attributeKey").then_some(scorers::EndpointAttributeScorer::TYPE);
        let path = format!("{path}.scorers[{index}]");
        let Some(read) = Read::new(entry, implied, path, faults) else { continue };
        let made = read.make(SCORERS, &cx, faults);
        let weight = read.weight.unwrap_or(1.0);
        scorers.extend(made.map(|scorer| NamedScorer { name: read.name, weight, scorer }));
    }
    unique(filters.iter().map(|f| &f.name), &format!("{path}.filters"), "filters", faults);
    unique(scorers.iter().map(|s| &s.name), &format!("{path}.scorers"), "scorers", faults);
    let picker = match pool.picker.take() {
        None => Some(default_picker()),
        Some(entry) => Read::new(entry, None, format!("{path}.picker"), faults).and_then(|read| {
            read.refuse_weight("a picker", faults);
            read.make(PICKERS, &cx, faults)
        }),
    };
    let exploration = pool.exploration_probability;
    let profile =
        Profile { name: DEFAULT_PROFILE.to_owned(), filters, scorers, picker: picker?, exploration };
    Some(Scheduler { profiles: vec![profile], handler: Box::new(SingleProfileHandler) })
}

/// llm-d's form while it is read.
struct Form<'a> {
    plugins: Vec<Read>,
    profiles: Vec<SchedulingProfile>,
    /// The profiles' names, in order.
    names: Vec<String>,
    deciders: BTreeMap<String, Rc<dyn Decider>>,
    max_age: &'a BTreeMap<String, SpanText>,
    exploration: f64,
    path: &'a str,
    faults: &'a mut Faults,
}

impl<'a> Form<'a> {
    fn new(
        plugins: Vec<PluginEntry>,
        profiles: Vec<SchedulingProfile>,
        max_age: &'a BTreeMap<String, SpanText>,
        exploration: f64,
        path: &'a str,
        faults: &'a mut Faults,
    ) -> Self {
        let entries = plugins.into_iter().enumerate();
        let read = entries
            .filter_map(|(index, entry)| Read::new(entry, None, format!("{path}.plugins[{index}]"), faults));
        let plugins: Vec<Read> = read.collect();
        unique(plugins.iter().map(|plugin| &plugin.name), &format!("{path}.plugins"), "plugins", faults);
        let mut names: Vec<String> = profiles.iter().map(|profile| profile.name.clone()).collect();
        unique(names.iter(), &format!("{path}.schedulingProfiles"), "profiles", faults);
        if names.is_empty() {
            names.push(DEFAULT_PROFILE.to_owned());
        }
        Self { plugins, profiles, names, deciders: BTreeMap::new(), max_age, exploration, path, faults }
    }

    fn scheduler(mut self) -> Option<Scheduler> {
        self.make_deciders();
        // What no profile refers to is checked, too: else a typing error waits for its first use.
        for plugin in &self.plugins {
            if !is_known(&plugin.kind) {
                let (path, kind) = (format!("{}.type", plugin.path), format!("{:?}", plugin.kind));
                self.faults.add(path, kind, unknown_type());
            }
            if !knows(SCORERS, &plugin.kind) {
                plugin.refuse_weight("a plugin that scores nothing", self.faults);
            }
            let cx = BuildContext { max_age: self.max_age, profiles: &self.names, deciders: &self.deciders };
            let _checked = plugin.make_if_known(FILTERS, &cx, self.faults);
            let _checked = plugin.make_if_known(SCORERS, &cx, self.faults);
            let _checked = plugin.make_if_known(PICKERS, &cx, self.faults);
        }
        let handler = self.handler();
        let profiles = if self.profiles.is_empty() {
            let used = self.plugins.iter().filter(|plugin| has_a_role(&plugin.kind));
            let used: Vec<(usize, Option<f64>)> =
                used.filter_map(|used| Some((self.position(&used.name)?, used.weight))).collect();
            let path = format!("{}.plugins", self.path);
            vec![self.profile(DEFAULT_PROFILE.to_owned(), &used, &path)]
        } else {
            let profiles = std::mem::take(&mut self.profiles);
            profiles.into_iter().enumerate().map(|(at, profile)| self.written_profile(at, profile)).collect()
        };
        Some(Scheduler { profiles, handler: handler? })
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.plugins.iter().position(|plugin| plugin.name == name)
    }

    fn make_deciders(&mut self) {
        let mut deciders = BTreeMap::new();
        for plugin in &self.plugins {
            let none = BTreeMap::new();
            let cx = BuildContext { max_age: self.max_age, profiles: &self.names, deciders: &none };
            if let Some(decider) = plugin.make_if_known(DECIDERS, &cx, self.faults) {
                deciders.insert(plugin.name.clone(), Rc::from(decider));
            }
        }
        self.deciders = deciders;
    }

    /// The one profile handler; without one written, one for a single profile.
    fn handler(&mut self) -> Option<Box<dyn ProfileHandler>> {
        let mut written = self.plugins.iter().filter(|plugin| knows(HANDLERS, &plugin.kind));
        let cx = BuildContext { max_age: self.max_age, profiles: &self.names, deciders: &self.deciders };
        let Some(first) = written.next() else {
            if self.names.len() > 1 {
                let reason = format!(
                    "there are {} profiles and no profile handler among plugins to choose one; add a {}",
                    self.names.len(),
                    HANDLERS.iter().map(|entry| entry.kind).collect::<Vec<_>>().join(" or ")
                );
                self.faults.add(format!("{}.schedulingProfiles", self.path), "", reason);
                return None;
            }
            return Some(Box::new(SingleProfileHandler));
        };
        for other in written {
            let reason = format!("a pool has one profile handler, and {:?} is one already", first.name);
            self.faults.add(&other.path, format!("{:?}", other.name), reason);
        }
        first.make(HANDLERS, &cx, self.faults)
    }

    /// A profile of `schedulingProfiles`.
    fn written_profile(&mut self, at: usize, profile: SchedulingProfile) -> Profile {
        let path = format!("{}.schedulingProfiles[{at}]", self.path);
        if profile.name.is_empty() {
            self.faults.add(format!("{path}.name"), "\"\"", "must not be empty");
        }
        let mut used: Vec<(usize, Option<f64>)> = Vec::new();
        for (at, reference) in profile.plugins.iter().enumerate() {
            let path = format!("{path}.plugins[{at}]");
            let name = &reference.plugin_ref;
            let mut wrong = |reason: String| {
                self.faults.add(format!("{path}.pluginRef"), format!("{name:?}"), reason);
            };
            let Some(index) = self.plugins.iter().position(|plugin| plugin.name == *name) else {
                let known: Vec<&str> = self.plugins.iter().map(|plugin| plugin.name.as_str()).collect();
                wrong(format!("is not the name of a plugin; there are {}", known.join(", ")));
                continue;
            };
            let Some(plugin) = self.plugins.get(index) else { continue };
            if used.iter().any(|(other, _)| *other == index) {
                wrong("the profile refers to it twice".to_owned());
                continue;
            }
            if is_known(&plugin.kind) && !has_a_role(&plugin.kind) {
                wrong(format!("is a {}, which is no filter, scorer or picker of a profile", plugin.kind));
                continue;
            }
            let weight = reference.weight.and_then(|weight| {
                if knows(SCORERS, &plugin.kind) {
                    return self.faults.weight(&path, &json!(weight));
                }
                let reason = format!("a {} has no weight", plugin.kind);
                self.faults.add(format!("{path}.weight"), weight, reason);
                None
            });
            used.push((index, weight.or(plugin.weight)));
        }
        self.profile(profile.name, &used, &path)
    }

    fn profile(&mut self, name: String, used: &[(usize, Option<f64>)], path: &str) -> Profile {
        let cx = BuildContext { max_age: self.max_age, profiles: &self.names, deciders: &self.deciders };
        let (mut filters, mut scorers, mut picker) = (Vec::new(), Vec::new(), None);
        for (index, weight) in used {
            let Some(plugin) = self.plugins.get(*index) else { continue };
            let filter = plugin.make_if_known(FILTERS, &cx, self.faults);
            filters.extend(filter.map(|filter| NamedFilter { name: plugin.name.clone(), filter }));
            let scorer = plugin.make_if_known(SCORERS, &cx, self.faults);
            let weight = weight.unwrap_or(1.0);
            scorers.extend(scorer.map(|scorer| NamedScorer { name: plugin.name.clone(), weight, scorer }));
            if let Some(made) = plugin.make_if_known(PICKERS, &cx, self.faults) {
                if picker.is_some() {
                    let reason = "a profile has one picker, and this is its second";
                    self.faults.add(path, format!("{:?}", plugin.name), reason);
                }
                picker = Some(made);
            }
        }
        let picker = picker.unwrap_or_else(default_picker);
        Profile { name, filters, scorers, picker, exploration: self.exploration }
    }
}

fn knows<T: ?Sized>(entries: &[Entry<T>], kind: &str) -> bool {
    entries.iter().any(|entry| entry.kind == kind)
}

/// Whether plugins of the type belong into profiles.
fn has_a_role(kind: &str) -> bool {
    knows(FILTERS, kind) || knows(SCORERS, kind) || knows(PICKERS, kind)
}

fn is_known(kind: &str) -> bool {
    has_a_role(kind) || knows(HANDLERS, kind) || knows(DECIDERS, kind)
}

fn unknown_type() -> String {
    let mut known: Vec<&str> = Vec::new();
    known.extend(FILTERS.iter().map(|entry| entry.kind));
    known.extend(SCORERS.iter().map(|entry| entry.kind));
    known.extend(PICKERS.iter().map(|entry| entry.kind));
    known.extend(HANDLERS.iter().map(|entry| entry.kind));
    known.extend(DECIDERS.iter().map(|entry| entry.kind));
    known.sort_unstable();
    known.dedup();
    format!("unknown type; known are {}", known.join(", "))
}
