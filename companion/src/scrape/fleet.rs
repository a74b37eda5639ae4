//! The running scrape loops, kept in step with discovery.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use tokio::{
    sync::watch,
    task::{AbortHandle, JoinSet},
};

use super::{
    Fetcher, Targets, Worker,
    plan::{Consumer, Plan},
    status::TargetId,
};
use crate::{
    admin::ScrapeMetrics,
    discovery::{Member, Reading, TargetKey},
    publish::Hub,
};

/// What each target is scraped for, given the members with their pools and the lives of their addresses.
pub(crate) fn plans<'m>(
    members: impl Iterator<Item = (usize, u64, &'m Member)>,
) -> BTreeMap<TargetKey, Plan> {
    let mut plans: BTreeMap<TargetKey, Plan> = BTreeMap::new();
    for (pool, life, member) in members {
        for Reading { target, pace, source } in &member.readings {
            let address = member.endpoint.address.clone();
            let consumer = Consumer { pool, address, life, source: source.clone() };
            let fresh = || Plan { pace: *pace, consumers: Vec::new() };
            plans.entry(target.clone()).or_insert_with(fresh).add(*pace, consumer);
        }
    }
    plans
}

/// Every target's loop.
#[derive(Debug)]
pub(crate) struct Fleet {
    running: BTreeMap<TargetKey, Running>,
    tasks: JoinSet<()>,
    max_backoff: Duration,
    fetcher: Arc<Fetcher>,
    hub: Arc<Hub>,
    targets: Arc<Targets>,
    metrics: ScrapeMetrics,
}

#[derive(Debug)]
struct Running {
    id: TargetId,
    plan: watch::Sender<Plan>,
    task: AbortHandle,
}

impl Fleet {
    /// No loop yet.
    pub(crate) fn new(
        fetcher: Fetcher,
        max_backoff: Duration,
        hub: Arc<Hub>,
        targets: Arc<Targets>,
        metrics: ScrapeMetrics,
    ) -> Self {
        let (running, tasks) = (BTreeMap::new(), JoinSet::new());
        Self { running, tasks, max_backoff, fetcher: Arc::new(fetcher), hub, targets, metrics }
    }

    /// Scrapes what the members need, each given with its pool and the life of its address, and nothing else.
    /// What goes on being needed is not disturbed.
    pub(crate) fn follow<'m>(&mut self, members: impl Iterator<Item = (usize, u64, &'m Member)>) {
        let plans = plans(members);
        self.running.retain(|key, running| {
            let stays = plans.contains_key(key);
            if !stays {
                running.task.abort();
                self.targets.remove(running.id);
                self.metrics.forget(key.url.as_str());
            }
            stays
        });
        for (key, plan) in plans {
            match self.running.get(&key) {
                Some(running) => {
                    self.targets.consumers(running.id, &plan);
                    running.plan.send_if_modified(|known| {
                        let is_news = *known != plan;
                        if is_news {
                            *known = plan;
                        }
                        is_news
                    });
                }
                None => self.start(key, plan),
            }
        }
    }

    fn start(&mut self, key: TargetKey, plan: Plan) {
        let id = self.targets.add(key.url.as_str(), &plan);
        let (plan, follow) = watch::channel(plan);
        let worker = Worker::new(
            id,
            key.clone(),
            follow,
            self.max_backoff,
            Arc::clone(&self.fetcher),
            Arc::clone(&self.hub),
            Arc::clone(&self.targets),
            &self.metrics,
        );
        let task = self.tasks.spawn(worker.run());
        self.running.insert(key, Running { id, plan, task });
    }

    /// The targets of a pool that were not scraped yet.
    pub(crate) fn untried(&self, pool: usize) -> BTreeSet<TargetId> {
        let running = self
            .running
            .values()
            .filter(|running| running.plan.borrow().consumers.iter().any(|consumer| consumer.pool == pool));
        running.map(|running| running.id).filter(|id| self.targets.is_untried(*id)).collect()
    }

    /// Waits until a loop panicked, which none does unless something is broken.
    pub(crate) async fn broken(&mut self) {
        loop {
            match self.tasks.join_next().await {
                Some(Err(error)) if error.is_panic() => return,
                Some(_aborted) => {}
                None => std::future::pending().await,
            }
        }
    }
}
