//! The KV cache: blocks that are counted, shared by what they hold, and kept until room is needed.

use std::collections::{BTreeMap, HashMap};

/// What a full block holds and everything before it, as one number.
pub(crate) type BlockHash = u64;

/// A block whose content is known and can be shared.
#[derive(Debug)]
enum Shared {
    /// By this many requests.
    InUse(usize),
    /// By none; evicted in the order of these numbers.
    Kept(u64),
}

/// Every block is free, kept (nobody uses it, but its content may be wanted again), shared (in use,
/// content known) or private (in use by one request, not full).
#[derive(Debug)]
pub(super) struct KvCache {
    capacity: usize,
    private: usize,
    shared: HashMap<BlockHash, Shared>,
    kept: BTreeMap<u64, BlockHash>,
    next_kept: u64,
}

impl KvCache {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, private: 0, shared: HashMap::new(), kept: BTreeMap::new(), next_kept: 0 }
    }

    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Blocks that requests hold.
    pub(super) fn used(&self) -> usize {
        self.private + self.shared.len() - self.kept.len()
    }

    /// How many blocks from the start of `chain` are in the cache.
    pub(super) fn cached_prefix(&self, chain: &[BlockHash]) -> usize {
        chain.iter().take_while(|hash| self.shared.contains_key(hash)).count()
    }

    /// Takes the `prefix`, which is in the cache, and `private` blocks; all or nothing.
    pub(super) fn claim(&mut self, prefix: &[BlockHash], private: usize) -> bool {
        let revived =
            prefix.iter().filter(|hash| matches!(self.shared.get(hash), Some(Shared::Kept(_)))).count();
        if self.used() + revived + private > self.capacity {
            return false;
        }
        for hash in prefix {
            self.join(*hash);
        }
        self.grow(private)
    }

    /// Takes `private` blocks, evicting the ones that went unused the longest; all or nothing.
    pub(super) fn grow(&mut self, private: usize) -> bool {
        if self.used() + private > self.capacity {
            return false;
        }
        self.private += private;
        while self.private + self.shared.len() > self.capacity {
            let Some((_, hash)) = self.kept.pop_first() else { break };
            self.shared.remove(&hash);
        }
        true
    }

    /// A private block is full. Where the same content is there already, the copy is given back.
    pub(super) fn share(&mut self, hash: BlockHash) {
        self.private = self.private.saturating_sub(1);
        self.join(hash);
    }

    /// Gives blocks back. The full ones are kept, the deepest of a chain evicted first: without what
    /// is before it a block is of no use.
    pub(super) fn release(&mut self, shared: &[BlockHash], private: usize) {
        self.private = self.private.saturating_sub(private);
        for hash in shared.iter().rev() {
            match self.shared.get_mut(hash) {
                Some(Shared::InUse(users)) if *users > 1 => *users -= 1,
                Some(block) => {
                    *block = Shared::Kept(self.next_kept);
                    self.kept.insert(self.next_kept, *hash);
                    self.next_kept += 1;
                }
                None => {}
            }
        }
    }

    fn join(&mut self, hash: BlockHash) {
        match self.shared.get_mut(&hash) {
            Some(Shared::InUse(users)) => *users += 1,
            Some(block @ Shared::Kept(_)) => {
                if let Shared::Kept(place) = std::mem::replace(block, Shared::InUse(1)) {
                    self.kept.remove(&place);
                }
            }
            None => {
                self.shared.insert(hash, Shared::InUse(1));
            }
        }
    }
}
