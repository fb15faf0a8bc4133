//! A client of the shard: what it sends, and what it makes of the replies. The decisions are those
//! of `round.rs` and `search.rs`, unless a defect is planted.

use super::shard::{Command, SLICES};
use super::{Defect, FALSELY_LOST, LOOP, MISSED, UNTAGGED};
use crate::error::Error;
use crate::wire::round::{Inserts, Item, Query, Reply, Step};
use crate::wire::search::Search;
use crate::wire::tag::State;

/// What a client has to do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Task {
    Insert(Inserts),
    Query(Query, Item),
    /// Commands for growth, in their order.
    Grow(Vec<Command>),
    Done,
}

/// The result of an insert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Outcome {
    New,
    Known,
    Unknown,
    Lost,
    Unavailable,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Client {
    /// Clients of one process share what they take for the open slice.
    pub(super) process: usize,
    task: Task,
    /// Whether its item counts.
    pub(super) counts: bool,
    /// What is sent, over one connection, and the replies so far.
    sent: Vec<Command>,
    replies: Vec<Reply>,
    search: Option<Search>,
    /// The items of an insert, and their results.
    items: Vec<(u64, Option<Outcome>)>,
    /// Whether the query must find its item. `None` until it begins.
    pub(super) must_find: Option<bool>,
}

impl Client {
    pub(super) fn new(process: usize, task: Task) -> Self {
        let items = match &task {
            Task::Insert(inserts) => inserts.items().iter().map(|item| (item.hash, None)).collect(),
            _ => Vec::new(),
        };
        let (sent, replies) = (Vec::new(), Vec::new());
        let counts = false;
        Self { process, task, counts, sent, replies, search: None, items, must_find: None }
    }

    pub(super) fn is_done(&self) -> bool {
        self.task == Task::Done
    }

    /// Returns whether nothing is on its way.
    pub(super) const fn is_idle(&self) -> bool {
        self.sent.is_empty()
    }

    /// Returns the command that the server executes next.
    pub(super) fn next(&self) -> Option<Command> {
        self.sent.get(self.replies.len()).copied()
    }

    /// Returns the items of an insert by their numbers, and their results.
    pub(super) fn results(&self) -> impl Iterator<Item = (usize, u64, Option<Outcome>)> {
        self.items.iter().enumerate().map(|(number, (item, outcome))| (number, *item, *outcome))
    }

    /// Returns the items of the next command.
    pub(super) fn asked(&self) -> &[Item] {
        match &self.task {
            Task::Insert(inserts) => inserts.items(),
            Task::Query(_, item) => core::slice::from_ref(item),
            Task::Grow(_) | Task::Done => &[],
        }
    }

    /// Decides what is sent.
    pub(super) fn decide(&mut self, guess: u32, defect: Defect) -> Result<(), &'static str> {
        let step = match &mut self.task {
            Task::Insert(inserts) => {
                let mut step = inserts.next(guess);
                if let (Ok(Some(Step::Read(closed))), Defect::ClosedAreNotRead) = (&step, defect) {
                    let none = (State::Closed, vec![false; inserts.items().len()]);
                    inserts.read(&vec![none; closed.len()], |_, _| ());
                    step = inserts.next(guess);
                }
                if let (Err(_), Defect::RestartForgets) = (&step, defect) {
                    *inserts = Inserts::new(inserts.items());
                    step = inserts.next(guess);
                }
                match step {
                    Ok(step) => step.expect("an item without a result"),
                    Err(Error::Unavailable { .. }) => return Err(LOOP),
                    Err(error) => {
                        self.fail(error, defect);
                        return Ok(());
                    }
                }
            }
            Task::Query(query, _) => {
                query.next(guess).map_err(|_| LOOP)?.map_or(Step::Find, Step::Read)
            }
            Task::Grow(commands) => {
                self.sent = vec![commands.remove(0)];
                return Ok(());
            }
            Task::Done => unreachable!("a client that is done sends nothing"),
        };
        self.sent = match step {
            Step::Read(slices) => slices.map(Command::Read).collect(),
            Step::Set(slice) if self.counts => vec![Command::Count(slice)],
            Step::Set(slice) => vec![Command::Set(slice)],
            Step::Find => {
                let search = self.search.get_or_insert(Search::new(SLICES));
                search.tags().map(Command::Tag).collect()
            }
        };
        Ok(())
    }

    /// The server has executed the next command.
    pub(super) fn receive(&mut self, reply: Reply) {
        self.replies.push(reply);
    }

    /// The connection breaks. What only reads is repeated.
    pub(super) fn interrupt(&mut self) {
        if self.replies.len() < self.sent.len() {
            self.replies.clear();
        }
    }

    /// The reply to bits that were perhaps set is lost.
    pub(super) fn lose(&mut self, defect: Defect) {
        self.replies.clear();
        if defect != Defect::UnknownIsRepeated {
            self.fail(Error::VerdictUnknown { reason: "lost".into() }, defect);
        }
    }

    /// The next command was not sent: there is no connection.
    pub(super) fn disconnect(&mut self, defect: Defect) {
        self.fail(Error::Unavailable { reason: "no connection".into() }, defect);
    }

    /// Reads the replies, and corrects the guess. `evicted`: whether a key has ever been evicted.
    pub(super) fn read(
        &mut self,
        guess: &mut u32,
        evicted: bool,
        defect: Defect,
    ) -> Result<(), &'static str> {
        let (sent, replies) = (core::mem::take(&mut self.sent), core::mem::take(&mut self.replies));
        match sent[0] {
            Command::Tag(_) => {
                let states: Vec<State> = replies.iter().map(|(state, _)| *state).collect();
                let search = self.search.as_mut().expect("a search");
                let Some(result) = search.read(&states) else { return Ok(()) };
                self.search = None;
                match result {
                    Ok(open) => {
                        *guess = open;
                        self.found();
                    }
                    Err(_) if !evicted => return Err(FALSELY_LOST),
                    Err(slice) => self.fail(Error::Lost { shard: 0, slice }, defect),
                }
                return Ok(());
            }
            Command::Grow(number) | Command::Create(number) | Command::Close(number) => {
                if replies[0].0 == State::Closed {
                    *guess = (*guess).max(number + 1);
                }
            }
            Command::Read(_) | Command::Set(_) | Command::Count(_) => {
                self.answer(sent[0], replies, guess, defect)?;
            }
        }
        // Of a client that is done nothing is kept, so that equal states are equal.
        let done = match &self.task {
            Task::Insert(inserts) => inserts.items().is_empty(),
            Task::Grow(commands) => commands.is_empty(),
            Task::Query(..) | Task::Done => false,
        };
        if done {
            self.task = Task::Done;
        }
        Ok(())
    }

    /// Reads the replies to a query or an insert.
    fn answer(
        &mut self,
        command: Command,
        mut replies: Vec<Reply>,
        guess: &mut u32,
        defect: Defect,
    ) -> Result<(), &'static str> {
        let untagged = replies.iter().any(|(state, _)| *state == State::Gone);
        let mut answered = false;
        let items = &mut self.items;
        let on_verdict = |item: Item, new| {
            answered = true;
            items[item.number].1 = Some(outcome(&Ok(new)));
        };
        match (&mut self.task, command) {
            (Task::Insert(inserts), Command::Set(number) | Command::Count(number)) => {
                let grown = self.counts && replies[0] == (State::Open, vec![true]);
                let closed = replies[0].0 == State::Closed || grown && number + 1 < SLICES;
                misread(&mut replies[0], defect);
                inserts.set(number, &replies[0], on_verdict);
                if closed {
                    *guess = (*guess).max(number + 1);
                    if defect == Defect::OwnBitsAreRead {
                        *inserts = Inserts::new(inserts.items());
                    }
                }
            }
            (Task::Insert(inserts), _) => inserts.read(&replies, on_verdict),
            (Task::Query(query, _), _) => {
                let last = replies.last_mut().expect("a reply");
                if defect == Defect::QueryStops && last.0 == State::Closed {
                    last.0 = State::Open;
                }
                if let Some(found) = query.read(&replies, 1) {
                    answered = true;
                    self.task = Task::Done;
                    if self.must_find == Some(true) && !found[0] {
                        return Err(MISSED);
                    }
                }
            }
            (Task::Grow(_) | Task::Done, _) => unreachable!("only a command of growth"),
        }
        if answered && untagged { Err(UNTAGGED) } else { Ok(()) }
    }

    /// The open slice has been found.
    fn found(&mut self) {
        match &mut self.task {
            Task::Insert(inserts) => inserts.found(),
            Task::Query(query, _) => query.found(),
            Task::Grow(_) | Task::Done => {}
        }
    }

    /// Ends the task with an error.
    fn fail(&mut self, error: Error, defect: Defect) {
        if let Task::Insert(inserts) = &self.task {
            let error = if defect == Defect::ErrorForgets { error } else { inserts.failed(error) };
            let outcome = outcome(&Err(error));
            for item in inserts.items() {
                self.items[item.number].1 = Some(outcome);
            }
        }
        self.task = Task::Done;
        (self.sent, self.replies, self.search) = Default::default();
    }
}

fn outcome(result: &Result<bool, Error>) -> Outcome {
    match result {
        Ok(true) => Outcome::New,
        Ok(false) => Outcome::Known,
        Err(Error::VerdictUnknown { .. }) => Outcome::Unknown,
        Err(Error::Lost { .. }) => Outcome::Lost,
        Err(Error::Unavailable { .. }) => Outcome::Unavailable,
        Err(error) => unreachable!("{error}"),
    }
}

/// Changes the reply to [`Command::Set`] as a client with a defect reads it.
fn misread((state, new): &mut Reply, defect: Defect) {
    match (defect, *state) {
        (Defect::ClosedIsOpen, State::Closed) => *state = State::Open,
        (Defect::KnownGoesOn, State::Closed) => new.fill(true),
        (Defect::UntaggedIsOpen, State::Gone) => *state = State::Open,
        _ => {}
    }
}
