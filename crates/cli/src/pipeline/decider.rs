//! What a command does with the keys of records, which decides which records are printed.

use super::chunk::Chunk;
use super::hasher::Hasher;
use super::plan::Plan;
use super::turnstile::Turnstile;

/// Decides chunks of records for a command. Several workers call it at once, each with its own
/// chunk.
pub(crate) trait Decider: Sync {
    /// The hash function for keys.
    fn hasher(&self) -> &Hasher;

    /// What the steps before and after the decision do with a chunk.
    fn plan(&self) -> Plan;

    /// Decides the records of a chunk that have a key. Once `failed` returns `true`, nothing is
    /// printed any more and nothing needs to be decided; but the chunk must enter every turnstile
    /// of the decider all the same.
    fn decide(&self, chunk: &mut Chunk<'_>, failed: &dyn Fn() -> bool);
}

/// Decides chunks by a function, in any order and several at once.
pub(crate) struct AnyOrder<F> {
    hasher: Hasher,
    plan: Plan,
    decide: F,
}

impl<F: Fn(&mut Chunk<'_>) + Sync> AnyOrder<F> {
    pub(crate) fn new(hasher: Hasher, plan: Plan, decide: F) -> Self {
        Self { hasher, plan, decide }
    }
}

impl<F: Fn(&mut Chunk<'_>) + Sync> Decider for AnyOrder<F> {
    fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    fn plan(&self) -> Plan {
        self.plan
    }

    fn decide(&self, chunk: &mut Chunk<'_>, failed: &dyn Fn() -> bool) {
        if !failed() {
            (self.decide)(chunk);
        }
    }
}

/// Decides chunks by a function, one after another in input order.
pub(crate) struct InOrder<F> {
    by: AnyOrder<F>,
    /// Whether a chunk was cut, because the input is wrong after its last record, or a record was
    /// refused. Nothing after it is decided, so that a filter has exactly the records before.
    cut: Turnstile<bool>,
}

impl<F: Fn(&mut Chunk<'_>) + Sync> InOrder<F> {
    pub(crate) fn new(hasher: Hasher, plan: Plan, decide: F) -> Self {
        Self { by: AnyOrder::new(hasher, plan, decide), cut: Turnstile::new(false) }
    }
}

impl<F: Fn(&mut Chunk<'_>) + Sync> Decider for InOrder<F> {
    fn hasher(&self) -> &Hasher {
        self.by.hasher()
    }

    fn plan(&self) -> Plan {
        self.by.plan()
    }

    fn decide(&self, chunk: &mut Chunk<'_>, failed: &dyn Fn() -> bool) {
        // The turn lasts until all records of the chunk are decided.
        let Some(mut cut) = self.cut.enter(chunk.turn) else { return };
        if !*cut {
            self.by.decide(chunk, failed);
        }
        *cut |= chunk.is_cut();
    }
}
