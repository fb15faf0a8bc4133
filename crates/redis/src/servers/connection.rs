//! One connection: sends commands, and says whether they were sent if it breaks.

use core::pin::pin;
use core::time::Duration;
use std::sync::Arc;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, ErrorKind, Pipeline, RedisError, Value, cmd};
use redis::{ConnectionInfo, ProtocolVersion};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

use crate::servers::address;
use crate::servers::stream::{self, Trouble};
use crate::servers::watched::{Gate, Watched};

/// A connection on which nothing was heard for this time is asked whether it is alive, before a
/// command that is not repeated. It costs one round trip. Until then, a call whose deadline has
/// passed waits for its replies.
const IDLE: Duration = Duration::from_secs(1);

/// The lateness of a timer from which the process counts as stopped meanwhile (by SIGSTOP, or by a
/// pause of its container).
const STOP: Duration = Duration::from_millis(250);

/// A connection, and its number. A node to which the connection was lost has another number
/// afterwards.
#[derive(Clone)]
pub(crate) struct Connection {
    pub(crate) number: u64,
    commands: MultiplexedConnection,
    gate: Gate,
    /// After this time without any reply, the connection counts as dead.
    patience: Duration,
    /// Locked by the task that asks whether the connection is alive.
    checking: Arc<tokio::sync::Mutex<()>>,
    driver: Arc<Driver>,
}

/// The task that writes and reads. It ends with the connection.
struct Driver(JoinHandle<()>);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Commands have no replies.
#[derive(Debug)]
pub(crate) struct Broken {
    pub(crate) reason: String,
    /// Whether the connection takes no more, and must be forgotten. Otherwise only the call has
    /// ended, before the reply was late: other tasks use the connection.
    pub(crate) is_dead: bool,
    /// Whether a part of them may have been sent.
    pub(crate) sent: bool,
}

impl Connection {
    /// Connects to a server, and sends it the user, the password and the database. `probes`: if the
    /// server hangs up, find out whether it expects encryption.
    pub(crate) async fn open(
        info: &ConnectionInfo,
        number: u64,
        patience: Duration,
        probes: bool,
    ) -> Result<Self, Trouble> {
        let (stream, gate) = Watched::new(stream::open(info.addr()).await?);
        // All timeouts are those of the callers.
        let config =
            AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(None);
        // The replies are read as those of this version, whichever an address asks for.
        let settings = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP2);
        let opened = MultiplexedConnection::new_with_config(&settings, stream, config).await;
        let (commands, driver) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                // A server that speaks TLS hangs up without a word.
                let maybe = probes && matches!(error.kind(), ErrorKind::Io | ErrorKind::Parse);
                if maybe && stream::expects_encryption(info.addr()).await {
                    return Err(Trouble::lasting("the server expects encryption on this port"));
                }
                return Err(of_setup(info, &error));
            }
        };
        Ok(Self {
            number,
            commands,
            gate,
            patience,
            checking: Arc::default(),
            driver: Arc::new(Driver(tokio::spawn(driver))),
        })
    }

    /// Sends commands and returns their replies. `limit`: how long the server may send nothing.
    /// `end`: until when the call waits, or longer while the server answers. Replies come in the
    /// order of the commands. So while others come, the server works, and these commands wait for
    /// their turn.
    pub(crate) async fn send(
        &mut self,
        pipeline: &Pipeline,
        limit: Duration,
        end: Instant,
    ) -> Result<Vec<Value>, Broken> {
        if self.gate.is_shut() {
            return Err(self.given_up());
        }
        let start = Instant::now();
        if limit.is_zero() || end <= start {
            let reason = "the deadline has passed".to_owned();
            return Err(Broken { reason, is_dead: false, sent: false });
        }
        self.gate.ask();
        let before = self.gate.written();
        // The end of a stop of this process.
        let mut woken: Option<Instant> = None;
        let late = |woken: Option<Instant>| {
            let heard = self.gate.heard();
            // A verdict that is on its way is not given up at the end of the call.
            let end = heard.map_or(end, |heard| end.max(heard + IDLE));
            let silent = heard.map_or(start, |heard| heard.max(start)).checked_add(limit);
            let late = silent.map_or(end, |silent| silent.min(end));
            woken.map_or(late, |woken| late.max(woken + IDLE))
        };
        let mut commands = self.commands.clone();
        let mut sent = pin!(commands.send_packed_commands(pipeline, 0, pipeline.len()));
        let replies = loop {
            let until = late(woken);
            match timeout_at(until, &mut sent).await {
                Ok(replies) => break Some(replies),
                // The timer was late, as after a stop of this process: what the server sent
                // meanwhile is not read yet.
                Err(_) if until.elapsed() > STOP => woken = Some(Instant::now()),
                Err(_) if late(woken) <= Instant::now() => break None,
                Err(_) => {}
            }
        };
        let reason = match replies {
            Some(Ok(replies)) if replies.len() == pipeline.len() => return Ok(replies),
            Some(Ok(_)) => "the number of replies is wrong".to_owned(),
            Some(Err(error)) => error.to_string(),
            None => {
                let reason = format!("no reply came within {:.1?}", start.elapsed());
                if self.gate.silent_since(start).elapsed() < self.patience {
                    return Err(Broken { reason, is_dead: false, sent: true });
                }
                reason
            }
        };
        // The commands may still wait to be written. Behind the gate they never will be.
        let sent = self.gate.shut() != before;
        Err(Broken { reason, is_dead: true, sent })
    }

    /// Sends one command and returns its reply.
    pub(crate) async fn send_one(
        &mut self,
        command: redis::Cmd,
        limit: Duration,
        end: Instant,
    ) -> Result<Value, Broken> {
        let mut pipeline = Pipeline::with_capacity(1);
        pipeline.add_command(command);
        let replies = self.send(&pipeline, limit, end).await?;
        Ok(replies.into_iter().next().unwrap_or(Value::Nil))
    }

    /// Finds out whether an idle connection is alive.
    ///
    /// # Errors
    ///
    /// It is not, or has not answered until the call ended.
    pub(crate) async fn check(&mut self, limit: Duration, end: Instant) -> Result<(), Broken> {
        if !self.is_idle() {
            return Ok(());
        }
        // One task asks. The others use its answer.
        let checking = Arc::clone(&self.checking);
        let _asks = checking.lock().await;
        // If it got none, no other asks: each would wait as long.
        if self.gate.is_shut() {
            return Err(self.given_up());
        }
        if !self.is_idle() {
            return Ok(());
        }
        self.send_one(cmd("PING"), limit, end).await.map(|_| ())
    }

    /// The error of a connection that another task has given up: nothing is sent over it.
    fn given_up(&self) -> Broken {
        Broken { reason: "the connection was given up".to_owned(), is_dead: true, sent: false }
    }

    /// Returns whether the other end has not hung up, as far as the runtime knows.
    pub(crate) fn is_open(&self) -> bool {
        !self.driver.0.is_finished()
    }

    fn is_idle(&self) -> bool {
        self.gate.heard().is_none_or(|heard| heard.elapsed() >= IDLE)
    }
}

/// What an error of a new connection means, which was given a user, a password and a database.
fn of_setup(info: &ConnectionInfo, error: &RedisError) -> Trouble {
    let text = error.to_string();
    let heals = match error.kind() {
        // With TLS 1.3 a server says only after the handshake that it wants another certificate.
        ErrorKind::Io => !text.contains("received fatal alert: Certificate"),
        // The code of the server is lost: BUSY, LOADING, MASTERDOWN and CLUSTERDOWN. One that has
        // too many clients says so, and hangs up.
        ErrorKind::Server(_) | ErrorKind::Extension => {
            let passing = ["is busy running", "is loading", "is down", "max number of clients"];
            passing.iter().any(|part| text.contains(part))
        }
        _ => false,
    };
    let reason = match error.kind() {
        ErrorKind::Parse => format!("the server at {} is not Redis or Valkey", info.addr()),
        _ => address::message(info, error),
    };
    Trouble { reason, heals }
}
