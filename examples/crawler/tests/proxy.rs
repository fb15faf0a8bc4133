//! A proxy before a `redis-server` that loses the answers to claims.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

/// The name of the command that claims, as the protocol writes it. Queries have another one.
const CLAIM: &[u8] = b"\r\nBITFIELD\r\n";

/// When a connection is closed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Moment {
    /// When the server has got a part of the command, which it does not execute.
    InTheCommand,
    /// When the server has got the command, and before it answers.
    AfterTheCommand,
    /// When the server has answered, and the client has got nothing of it.
    AfterTheAnswer,
    /// When the client has got a part of the answer.
    InTheAnswer,
}

/// A proxy. Its threads end with the program, or with their connections.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    /// The claims that were seen, and those of which the answer was lost.
    shared: Arc<Shared>,
}

struct Shared {
    server: u16,
    moment: Moment,
    /// Which claims lose their answer: each of this number.
    each: u64,
    claims: AtomicU64,
    lost: AtomicU64,
}

impl Proxy {
    /// Starts a proxy before the server at a port.
    pub(crate) fn start(server: u16, moment: Moment, each: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (claims, lost) = (AtomicU64::new(0), AtomicU64::new(0));
        let shared = Arc::new(Shared { server, moment, each, claims, lost });
        let state = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming() {
                let shared = Arc::clone(&state);
                // A connection that breaks has done its part.
                thread::spawn(move || _ = serve(client.unwrap(), &shared));
            }
        });
        Self { port, shared }
    }

    /// Returns the number of claims whose answer was lost.
    pub(crate) fn lost(&self) -> u64 {
        self.shared.lost.load(Relaxed)
    }
}

/// Forwards all between a client and the server, until an answer is to be lost.
fn serve(mut client: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let mut server = TcpStream::connect(("127.0.0.1", shared.server))?;
    for stream in [&client, &server] {
        stream.set_nodelay(true)?;
    }
    let (mut from_server, mut to_client) = (server.try_clone()?, client.try_clone()?);
    let answers = thread::spawn(move || std::io::copy(&mut from_server, &mut to_client));

    let mut request = vec![0; 1 << 16];
    loop {
        let len = client.read(&mut request)?;
        if len == 0 {
            server.shutdown(Shutdown::Write)?;
            _ = answers.join();
            return Ok(());
        }
        let part = &request[..len];
        let claim = part.windows(CLAIM.len()).position(|bytes| bytes == CLAIM);
        let number = claim.map_or(0, |_| shared.claims.fetch_add(1, Relaxed) + 1);
        if number == 0 || !number.is_multiple_of(shared.each) {
            server.write_all(part)?;
            continue;
        }
        shared.lost.fetch_add(1, Relaxed);
        lose(&client, &mut server, part, shared.moment)?;
        return Ok(());
    }
}
