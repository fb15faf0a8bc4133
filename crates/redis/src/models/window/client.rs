//! A client of a shard with epochs: what it sends, and what it makes of the replies. The decisions
//! are those of
//! `window/round.rs`.

use std::sync::Arc;

use super::shard::{Shard, Stored, Time, WINDOW};
use super::{Defect, FALSELY_LOST, LONG, MISSED, TWO};
use crate::models::client::Outcome;
use crate::models::{LOOP, NONE};
use crate::window::{Epoch, Epochs, Insert, Query, Reply};

/// What a client has to do, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Task {
    Insert(u64),
    /// Of item 0.
    Query,
}

/// What is on its way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Sent {
    Nothing,
    Insert(Insert),
    Grow(Arc<Epochs>),
    Query(Query, Reads),
}

/// The replies to a query so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Reads {
    /// When the reads began, and what was stored then.
    begun: Option<(Time, Option<Stored>)>,
    before: Option<Epochs>,
    keys: Vec<Option<u8>>,
    after: Option<(Option<Epochs>, i64)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Client {
    number: usize,
    tasks: Vec<Task>,
    /// The tasks that were begun.
    begun: usize,
    known: Arc<Epochs>,
    sent: Sent,
    /// The results of the inserts, by their numbers among the tasks.
    pub(super) results: Vec<(usize, Outcome)>,
}

/// What the server and the world know when a command is executed.
pub(super) struct Moment {
    pub(super) now: i64,
    pub(super) time: Time,
    /// Whether a key may be missing: one was evicted, or another clock has let it expire.
    pub(super) missing: bool,
    pub(super) defect: Defect,
}

impl Client {
    pub(super) fn new(number: usize, tasks: Vec<Task>, known: Epochs) -> Self {
        let (known, sent) = (Arc::new(known), Sent::Nothing);
        Self { number, tasks, begun: 0, known, sent, results: Vec::new() }
    }

    pub(super) fn is_done(&self) -> bool {
        self.sent == Sent::Nothing && self.begun == self.tasks.len()
    }

    /// Returns whether a command is on its way that must not be repeated.
    pub(super) const fn is_inserting(&self) -> bool {
        matches!(self.sent, Sent::Insert(_))
    }

    /// Returns the number of the insert that is on its way.
    const fn insert(&self) -> usize {
        self.begun - 1
    }

    /// The server executes the next command of this client, and its reply is read: nobody sees
    /// when. `lost`: the reply is lost.
    pub(super) fn execute(
        &mut self,
        shard: &mut Shard,
        moment: &Moment,
        lost: bool,
    ) -> Result<(), &'static str> {
        if self.sent == Sent::Nothing {
            self.begin();
        }
        match self.sent.clone() {
            Sent::Nothing => Ok(()),
            Sent::Insert(insert) => self.step(insert, shard, moment, lost),
            Sent::Grow(named) => {
                if let Some(list) = shard.grow(&named, moment.defect) {
                    self.known = Arc::new(list);
                }
                self.sent = Sent::Nothing;
                Ok(())
            }
            Sent::Query(query, reads) => self.read(query, reads, shard, moment),
        }
    }

    /// Begins the next task.
    fn begin(&mut self) {
        let known = Arc::clone(&self.known);
        self.sent = match self.tasks[self.begun] {
            Task::Insert(_) => Sent::Insert(Insert::new(known)),
            Task::Query => Sent::Query(Query::new(known), Reads::default()),
        };
        self.begun += 1;
    }

    /// The command of an insert was lost, or its reply.
    pub(super) fn lose(&mut self, defect: Defect) {
        if defect == Defect::UnknownIsRepeated {
            return;
        }
        self.results.push((self.insert(), Outcome::Unknown));
        self.sent = Sent::Nothing;
    }

    /// A failover takes the connection. What only reads is repeated.
    pub(super) fn interrupt(&mut self) {
        if let Sent::Query(_, reads) = &mut self.sent {
            *reads = Reads::default();
        }
    }

    fn step(
        &mut self,
        mut insert: Insert,
        shard: &mut Shard,
        moment: &Moment,
        lost: bool,
    ) -> Result<(), &'static str> {
        let &Moment { now, time, missing, defect } = moment;
        let Task::Insert(item) = self.tasks[self.insert()] else { return Ok(()) };
        let begins = insert.next().map_err(|_| LOOP)?;
        let named = Arc::clone(insert.epochs());
        let last = shard.stored[item as usize];
        let stored = Stored { at: time, by: (self.number, self.insert()) };
        let reply = shard.insert(&named, begins, item, (now, stored), defect);
        if let Reply::Done(_, new, _) = &reply {
            check(last, time, new[0])?;
        }
        if lost {
            self.lose(defect);
            return Ok(());
        }
        let answer = insert.read(reply);
        self.known = Arc::clone(insert.epochs());
        self.sent = Sent::Insert(insert);
        let outcome = match answer {
            None => return Ok(()),
            Some(Err(_)) if missing => Outcome::Lost,
            Some(Err(_)) => return Err(FALSELY_LOST),
            Some(Ok((new, _))) if new[0] => Outcome::New,
            Some(Ok(_)) => Outcome::Known,
        };
        // An insert that finds the bits which it has set itself has no winner.
        let own = last.is_some_and(|last| last.by == stored.by);
        if own && outcome == Outcome::Known {
            return Err(NONE);
        }
        self.results.push((self.insert(), outcome));
        // A slice is full of one item.
        let grows = outcome == Outcome::New
            && self.known.newest().open + 1 < super::shard::SLICES
            && self.tasks.len() > 1;
        self.sent = if grows { Sent::Grow(Arc::clone(&self.known)) } else { Sent::Nothing };
        Ok(())
    }

    /// Executes the next command of a query.
    fn read(
        &mut self,
        mut query: Query,
        mut reads: Reads,
        shard: &mut Shard,
        moment: &Moment,
    ) -> Result<(), &'static str> {
        let &Moment { now, time, missing, defect } = moment;
        let keys: Vec<(Epoch, u32)> = query.epochs().keys().collect();
        let list = shard.list().cloned();
        let Some((began, stored)) = reads.begun else {
            _ = query.next().map_err(|_| LOOP)?;
            reads.begun = Some((time, shard.stored[0]));
            reads.before.clone_from(&list);
            reads.after = (defect == Defect::ListFirst).then_some((list, now));
            self.sent = Sent::Query(query, reads);
            return Ok(());
        };
        if let Some((epoch, slice)) = keys.get(reads.keys.len()) {
            reads.keys.push(shard.read((epoch.number, *slice), now));
            self.sent = Sent::Query(query, reads);
            return Ok(());
        }
        let Some((after, now)) = reads.after else {
            reads.after = Some((list, now));
            self.sent = Sent::Query(query, reads);
            return Ok(());
        };
        let found = |items: &Option<u8>| match items {
            None if defect == Defect::MissingIsEmpty => Some(vec![false]),
            items => items.map(|items| vec![items & 1 != 0]),
        };
        let found: Vec<_> = reads.keys.iter().map(found).collect();
        let now = match defect {
            Defect::DueIsRead => i64::MIN / 2,
            Defect::OtherClock => now + WINDOW.epoch().cast_signed(),
            _ => now,
        };
        let before = if defect == Defect::ListLast { after.clone() } else { reads.before };
        let answer = query.read(WINDOW, [before, after], &found, now, 1);
        self.known = Arc::clone(query.epochs());
        match answer {
            None => self.sent = Sent::Query(query, Reads::default()),
            Some(Err(_)) if !missing => return Err(FALSELY_LOST),
            Some(Err(_)) => self.sent = Sent::Nothing,
            Some(Ok(found)) => {
                self.sent = Sent::Nothing;
                let last = shard.stored[0];
                // An item that was stored when the query began, and still is.
                let known = stored.filter(|_| last.is_some());
                if !found[0] && known.is_some_and(|stored| !may_be_new(stored, time)) {
                    return Err(MISSED);
                }
                // It may be that of any moment since the query began.
                let began = Time { passed: began.passed, ..time };
                if found[0] && last.is_none_or(|last| !may_be_known(last, began)) {
                    return Err(LONG);
                }
            }
        }
        Ok(())
    }
}

/// Checks a verdict on an item that was stored before, or not.
fn check(last: Option<Stored>, time: Time, new: bool) -> Result<(), &'static str> {
    match last {
        Some(last) if new && !may_be_new(last, time) => Err(TWO),
        Some(last) if !new && !may_be_known(last, time) => Err(LONG),
        None if !new => Err(NONE),
        _ => Ok(()),
    }
}

/// Returns whether an item may be forgotten: after the span, and earlier by as much as the clock
/// was set ahead.
const fn may_be_new(stored: Stored, time: Time) -> bool {
    let passed = time.passed - stored.at.passed + time.ahead - stored.at.ahead;
    passed > WINDOW.span().as_millis() as i64
}

/// Returns whether an item may still be remembered: for the life of an epoch, and longer by as much
/// as the clock was set back.
const fn may_be_known(stored: Stored, time: Time) -> bool {
    let passed = time.passed - stored.at.passed - (time.back - stored.at.back);
    passed < WINDOW.life().cast_signed()
}
