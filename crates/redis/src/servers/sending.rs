//! Sends commands to the node that has a slot, and never repeats one that may have been executed,
//! unless it only reads.
//!
//! The table in `router.rs` says what each reply means.

use redis::{Cmd, Pipeline, Value, cmd};
use tokio::time::{Instant, timeout_at};

use crate::error::Error;
use crate::events::Event;
use crate::servers::connection::{Broken, Connection};
use crate::servers::nodes::Use;
use crate::servers::router::{Failure, Kind, Router, message};
use crate::servers::slots::{Node, redirection};
use crate::servers::stream::Trouble;
use crate::servers::tries::Tries;

/// The most redirections in a row without a pause.
const MAX_REDIRECTIONS: u32 = 4;

/// The replies to commands.
#[derive(Debug)]
pub(crate) struct Replies {
    pub(crate) values: Vec<Value>,
    /// The number of the connection over which the first command was executed.
    pub(crate) connection: u64,
}

/// Commands of which some have replies.
struct Batch<'c> {
    commands: &'c [Cmd],
    kind: Kind,
    replies: Vec<Option<Value>>,
    /// The node that imports the slot and has the key of a command, as the owner of the slot has
    /// said.
    asked: Vec<Option<Node>>,
    /// Whether replicas may still be asked.
    stale: bool,
    connection: u64,
    redirections: u32,
}

/// Where to send commands next.
struct Target {
    node: Node,
    used: Use,
    /// Whether the node only imports the slot.
    asking: bool,
}

/// What a reply says about its command.
enum Meaning {
    Executed,
    Moved(u16, Node),
    Ask(Node),
    Later(String),
    Refused(String),
}

/// What is done after some commands were sent.
enum Next {
    GoOn,
    Pause(String),
}

impl Router {
    /// Sends commands to the node of a slot, in this order, and returns their replies. Those to
    /// commands of [`Kind::Write`] after the first may be errors or nothing. `lane`: the caller's
    /// own connections, if it has any.
    pub(crate) async fn send_over(
        &self,
        lane: Option<u32>,
        slot: u16,
        commands: &[Cmd],
        kind: Kind,
        end: Instant,
    ) -> Result<Replies, Failure> {
        let mut batch = Batch::new(commands, kind);
        let end = self.extended(end);
        let mut tries = Tries::new(end, self.events());
        while batch.has_open() {
            let failure = match self.step(lane, slot, &mut batch, end).await {
                Ok(Next::GoOn) => continue,
                Ok(Next::Pause(reason)) if kind == Kind::Once => {
                    Failure::NotExecuted(reason.into())
                }
                Ok(Next::Pause(_)) if batch.has_verdict() => break,
                Ok(Next::Pause(reason)) => {
                    tries.pause(reason).await.map_err(Failure::NotExecuted)?;
                    _ = timeout_at(end, self.refresh()).await;
                    continue;
                }
                Err(failure) => failure,
            };
            // The verdict is known. What was to be read with it has no reply.
            if batch.has_verdict() {
                break;
            }
            return Err(failure);
        }
        Ok(batch.finish())
    }

    /// Sends commands over the connection that all tasks share.
    pub(crate) async fn send(
        &self,
        slot: u16,
        commands: &[Cmd],
        kind: Kind,
        end: Instant,
    ) -> Result<Replies, Failure> {
        self.send_over(None, slot, commands, kind, end).await
    }

    /// Sends one command that may be repeated.
    pub(crate) async fn send_one(
        &self,
        slot: u16,
        command: Cmd,
        end: Instant,
    ) -> Result<Value, Error> {
        let commands = [command];
        let sent = self.send(slot, &commands, Kind::Idempotent, end);
        let replies = self.events().watched(end, sent).await.map_err(Failure::of_read)?;
        replies.values.into_iter().next().ok_or(Error::Reply { expected: "one reply" })
    }

    /// Sends the open commands that go to one node, and takes their replies.
    async fn step(
        &self,
        lane: Option<u32>,
        slot: u16,
        batch: &mut Batch<'_>,
        end: Instant,
    ) -> Result<Next, Failure> {
        // 1. The node, and the commands. All that were not redirected go to the node that has the
        //    slot.
        let used = lane.map_or(Use::Shared, Use::Lane);
        let Some(target) = self.target(slot, batch, used) else {
            return Ok(Next::Pause(format!("no node has slot {slot}")));
        };
        let numbers = batch.open(&target);
        let pipeline = batch.pipeline(&numbers, target.asking);

        // 2. The replies.
        let exchanged = self.exchange(&target, batch.repeats(), &pipeline, end).await;
        let (replies, connection) = match exchanged {
            Ok(exchanged) => exchanged,
            Err(_) if target.used == Use::Replica => {
                self.nodes.shun(target.node);
                batch.stale = false;
                return Ok(Next::GoOn);
            }
            Err(broken) if broken.sent && !batch.repeats() => {
                return Err(Failure::Unknown(broken.reason.into()));
            }
            Err(broken) => return Ok(Next::Pause(broken.reason)),
        };
        if numbers[0] == 0 {
            batch.connection = connection;
        }
        // Before each reply of a node that imports comes that to ASKING.
        let replies = replies.into_iter().skip(target.asking.into());
        let replies = replies.step_by(if target.asking { 2 } else { 1 });

        // 3. What each of them means.
        let (mut moved, mut later, mut redirected) = (None, None, false);
        for (number, reply) in numbers.into_iter().zip(replies) {
            batch.asked[number] = None;
            match meaning(&reply, &target.node) {
                Meaning::Executed => batch.replies[number] = Some(reply),
                Meaning::Refused(_) if batch.kind == Kind::Write && number > 0 => {
                    batch.replies[number] = Some(reply);
                }
                Meaning::Refused(reason) => return Err(Failure::Refused(reason.into())),
                Meaning::Moved(slot, to) => moved = Some((slot, to)),
                Meaning::Ask(to) => {
                    batch.asked[number] = Some(to);
                    redirected = true;
                }
                Meaning::Later(reason) => later = Some(reason),
            }
        }
        if let Some((slot, to)) = moved {
            // The whole map may have changed. What this node said is newer than what another one
            // answers.
            _ = timeout_at(end, self.refresh()).await;
            let name = || format!("{}:{}", to.0, to.1).into();
            self.events().raise(|| Event::Moved { slot, to: name() });
            self.known().slots.moved(slot, to);
            redirected = true;
        }
        if let Some(reason) = later {
            if target.used == Use::Replica {
                self.nodes.shun(target.node);
                batch.stale = false;
                return Ok(Next::GoOn);
            }
            // A master that was replaced. A new connection looks up its host again.
            if reason.starts_with("READONLY") {
                self.nodes.forget(connection);
            }
            return Ok(Next::Pause(reason));
        }
        if redirected {
            batch.redirections += 1;
            if batch.redirections > MAX_REDIRECTIONS {
                batch.redirections = 0;
                return Ok(Next::Pause(format!("the nodes disagree about slot {slot}")));
            }
        }
        Ok(Next::GoOn)
    }

    /// Sends a pipeline to a node. Returns the replies and the number of the connection. Neither
    /// the connection nor the replies are waited for beyond `end`.
    async fn exchange(
        &self,
        target: &Target,
        repeats: bool,
        pipeline: &Pipeline,
        end: Instant,
    ) -> Result<(Vec<Value>, u64), Broken> {
        let live = timeout_at(end, self.live(target, repeats, end)).await;
        let late = || Err(Trouble::passing("no connection was made before the deadline"));
        let not_sent = |Trouble { reason, .. }| Broken { reason, is_dead: false, sent: false };
        let mut connection = live.unwrap_or_else(|_| late()).map_err(not_sent)?;
        let sent = connection.send(pipeline, self.nodes.timeout(target.used), end).await;
        if sent.as_ref().is_err_and(|broken| broken.is_dead) {
            self.nodes.forget(connection.number);
        }
        Ok((sent?, connection.number))
    }

    /// Returns a connection to a node: for commands that are not repeated, one that is alive.
    async fn live(
        &self,
        target: &Target,
        repeats: bool,
        end: Instant,
    ) -> Result<Connection, Trouble> {
        let mut connection = self.nodes.connection(&target.node, target.used).await?;
        if repeats {
            return Ok(connection);
        }
        if let Err(broken) = connection.check(self.nodes.timeout(target.used), end).await {
            if !broken.is_dead {
                return Err(Trouble::passing(broken.reason));
            }
            // It has ended while nobody used it. A new one answers at once, or there is none.
            self.nodes.forget(connection.number);
            connection = self.nodes.connection(&target.node, target.used).await?;
        }
        Ok(connection)
    }

    /// Chooses the node for the next commands.
    fn target(&self, slot: u16, batch: &Batch<'_>, used: Use) -> Option<Target> {
        if let Some(node) = batch.redirected() {
            return Some(Target { node: node.clone(), used, asking: true });
        }
        if batch.stale
            && let Some(node) = self.replica(slot)
        {
            return Some(Target { node, used: Use::Replica, asking: false });
        }
        let node = self.known().slots.master(slot)?.clone();
        Some(Target { node, used, asking: false })
    }
}

impl<'c> Batch<'c> {
    fn new(commands: &'c [Cmd], kind: Kind) -> Self {
        Self {
            commands,
            kind,
            replies: vec![None; commands.len()],
            asked: vec![None; commands.len()],
            stale: kind == Kind::StaleRead,
            connection: 0,
            redirections: 0,
        }
    }

    fn has_open(&self) -> bool {
        self.replies.iter().any(Option::is_none)
    }

    /// Whether commands may be sent again that may have been executed.
    fn repeats(&self) -> bool {
        matches!(self.kind, Kind::Read | Kind::StaleRead | Kind::Idempotent) || self.has_verdict()
    }

    /// Whether the command that writes was executed.
    fn has_verdict(&self) -> bool {
        self.kind == Kind::Write && self.replies.first().is_some_and(Option::is_some)
    }

    /// Returns the node to which the first open command was redirected.
    fn redirected(&self) -> Option<&Node> {
        let first = self.replies.iter().position(Option::is_none)?;
        self.asked[first].as_ref()
    }

    /// Returns the numbers of the open commands that go to a node.
    fn open(&self, target: &Target) -> Vec<usize> {
        let asked = target.asking.then_some(&target.node);
        let all = 0..self.commands.len();
        all.filter(|at| self.replies[*at].is_none() && self.asked[*at].as_ref() == asked).collect()
    }

    /// Returns commands as one pipeline; for a node that imports the slot, each behind an `ASKING`.
    fn pipeline(&self, numbers: &[usize], asking: bool) -> Pipeline {
        let mut pipeline = Pipeline::with_capacity(2 * numbers.len());
        for number in numbers {
            if asking {
                pipeline.add_command(cmd("ASKING"));
            }
            pipeline.add_command(self.commands[*number].clone());
        }
        pipeline
    }

    fn finish(self) -> Replies {
        let values = self.replies.into_iter().map(|reply| reply.unwrap_or(Value::Nil));
        Replies { values: values.collect(), connection: self.connection }
    }
}

/// Returns what the reply to a command means.
fn meaning(reply: &Value, asked: &Node) -> Meaning {
    let Value::ServerError(error) = reply else { return Meaning::Executed };
    let to = || redirection(error.details().unwrap_or_default(), asked);
    match error.code() {
        "MOVED" => match to() {
            Some((slot, node)) => Meaning::Moved(slot, node),
            None => Meaning::Later(message(error)),
        },
        "ASK" => match to() {
            Some((_, node)) => Meaning::Ask(node),
            None => Meaning::Later(message(error)),
        },
        "TRYAGAIN" | "CLUSTERDOWN" | "LOADING" | "MASTERDOWN" | "READONLY" | "BUSY"
        | "NOREPLICAS" => Meaning::Later(message(error)),
        _ => Meaning::Refused(message(error)),
    }
}
