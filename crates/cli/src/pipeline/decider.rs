//! What a command does with the keys of records, which decides which records are printed.

use super::chunk::Chunk;
use super::hasher::Hasher;
use super::plan::Plan;
use super::turnstile::Turnstile;

/// Decides the records of a chunk that have a key. Several workers call it at once, each with its
/// own chunk. Once the second argument returns `true`, nothing is printed any more and nothing
/// needs to be decided; but the chunk must enter every turnstile of the decider all the same.
type Decide<'d> = dyn Fn(&mut Chunk<'_>, &dyn Fn() -> bool) + Sync + 'd;

/// Decides chunks of records for a command.
pub(crate) struct Decider<'d> {
    /// The hash function for keys.
    pub(super) hasher: Hasher,
    /// What the steps before and after the decision do with a chunk.
    pub(super) plan: Plan,
    pub(super) decide: Box<Decide<'d>>,
}

impl<'d> Decider<'d> {
    pub(crate) fn new(
        hasher: Hasher,
        plan: Plan,
        decide: impl Fn(&mut Chunk<'_>, &dyn Fn() -> bool) + Sync + 'd,
    ) -> Self {
        Self { hasher, plan, decide: Box::new(decide) }
    }

    /// Decides chunks by a function, in any order and several at once.
    pub(crate) fn any_order(
        hasher: Hasher,
        plan: Plan,
        decide: impl Fn(&mut Chunk<'_>) + Sync + 'd,
    ) -> Self {
        Self::new(hasher, plan, move |chunk, failed| {
            if !failed() {
                decide(chunk);
            }
        })
    }

    /// Decides chunks by a function, one after another in input order.
    pub(crate) fn in_order(
        hasher: Hasher,
        plan: Plan,
        decide: impl Fn(&mut Chunk<'_>) + Sync + 'd,
    ) -> Self {
        // Whether a chunk was cut, because the input is wrong after its last record, or a record
        // was refused. Nothing after it is decided, so that a filter has exactly the records
        // before.
        let cut = Turnstile::new(false);
        Self::new(hasher, plan, move |chunk, failed| {
            // The turn lasts until all records of the chunk are decided.
            let Some(mut cut) = cut.enter(chunk.turn) else { return };
            if !*cut && !failed() {
                decide(chunk);
            }
            *cut |= chunk.is_cut();
        })
    }
}
