//! Opens byte streams to servers: TCP, with encryption or without, and Unix sockets.

use core::fmt::Display;
use core::time::Duration;
use std::io;

use futures_util::future::select_ok;
use redis::ConnectionAddr;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

/// How long a server may take to answer a probe.
const PROBE: Duration = Duration::from_secs(1);

/// Why there is no connection.
#[derive(Clone, Debug)]
pub(crate) struct Trouble {
    pub(crate) reason: String,
    /// Whether it may end without a change of the address or the configuration.
    pub(crate) heals: bool,
}

impl Trouble {
    /// A server that is starting, or a network that fails.
    pub(crate) fn passing(reason: impl Display) -> Self {
        Self { reason: reason.to_string(), heals: true }
    }

    /// A wrong address, password or configuration.
    pub(crate) fn lasting(reason: impl Display) -> Self {
        Self { reason: reason.to_string(), heals: false }
    }
}

/// A stream of bytes in both directions.
pub(crate) trait Bytes: AsyncRead + AsyncWrite + Send + Unpin {
    /// Whether the server has hung up, by what the system knows now. The runtime may learn it
    /// later.
    fn has_ended(&self) -> bool;
}

impl Bytes for TcpStream {
    fn has_ended(&self) -> bool {
        has_ended(self)
    }
}

#[cfg(unix)]
impl Bytes for tokio::net::UnixStream {
    fn has_ended(&self) -> bool {
        has_ended(self)
    }
}

#[cfg(feature = "tls")]
impl Bytes for tokio_rustls::client::TlsStream<TcpStream> {
    fn has_ended(&self) -> bool {
        has_ended(self.get_ref().0)
    }
}

/// Looks at the next byte, without taking it. At the end there is none.
#[cfg(unix)]
fn has_ended(stream: &impl std::os::fd::AsFd) -> bool {
    use rustix::io::Errno;
    use rustix::net::{RecvFlags, recv};

    match recv(stream, &mut [0_u8; 1][..], RecvFlags::PEEK | RecvFlags::DONTWAIT) {
        Ok((count, _)) => count == 0,
        Err(error) => ![Errno::AGAIN, Errno::WOULDBLOCK, Errno::INTR].contains(&error),
    }
}

#[cfg(not(unix))]
const fn has_ended<S>(_: &S) -> bool {
    false
}

/// Opens a stream to a server.
pub(crate) async fn open(address: &ConnectionAddr) -> Result<Box<dyn Bytes>, Trouble> {
    match address {
        ConnectionAddr::Tcp(host, port) => Ok(Box::new(tcp(host, *port).await?)),
        #[cfg(feature = "tls")]
        ConnectionAddr::TcpTls { host, port, insecure: false, .. } => encrypted(host, *port).await,
        ConnectionAddr::TcpTls { insecure: true, .. } => Err(Trouble::lasting(
            "connections without a check of the certificate are not supported",
        )),
        #[cfg(not(feature = "tls"))]
        ConnectionAddr::TcpTls { insecure: false, .. } => {
            Err(Trouble::lasting("a connection with encryption needs the feature `tls`"))
        }
        #[cfg(unix)]
        ConnectionAddr::Unix(path) => match tokio::net::UnixStream::connect(path).await {
            Ok(stream) => Ok(Box::new(stream)),
            Err(error) => Err(of_connect(&error)),
        },
        other => Err(Trouble::lasting(format!("addresses such as {other} are not supported"))),
    }
}

/// Connects to the first address of a host that answers.
async fn tcp(host: &str, port: u16) -> Result<TcpStream, Trouble> {
    let found: Vec<_> = match lookup_host((host, port)).await {
        Ok(found) => found.collect(),
        Err(error) => {
            let text = error.to_string();
            // The texts of glibc and musl when no server of names answers.
            let heals = ["Temporary failure", "Try again"].iter().any(|no| text.contains(no));
            return Err(Trouble { reason: format!("host {host:?}: {text}"), heals });
        }
    };
    if found.is_empty() {
        return Err(Trouble::lasting(format!("host {host:?} has no address")));
    }
    let each = found.into_iter().map(|address| Box::pin(TcpStream::connect(address)));
    let (stream, _) = select_ok(each).await.map_err(|error| of_connect(&error))?;
    // Commands are sent at once: each batch is written as a whole.
    stream.set_nodelay(true).map_err(Trouble::passing)?;
    Ok(stream)
}

fn of_connect(error: &io::Error) -> Trouble {
    // A file of a socket that is not there yet is that of a server that is starting.
    let lasting = [io::ErrorKind::PermissionDenied, io::ErrorKind::InvalidInput];
    Trouble { reason: error.to_string(), heals: !lasting.contains(&error.kind()) }
}

/// Connects with encryption. The certificate of the server is checked against those of the system.
#[cfg(feature = "tls")]
async fn encrypted(host: &str, port: u16) -> Result<Box<dyn Bytes>, Trouble> {
    use std::sync::Arc;

    use futures_util::future::{Either, select};
    use rustls::pki_types::ServerName;
    use rustls::{ClientConfig, RootCertStore};
    use tokio_rustls::TlsConnector;

    // 1. The certificates, which are read anew for each connection: they are renewed in long runs.
    let mut roots = RootCertStore::empty();
    let mut found = rustls_native_certs::load_native_certs();
    // A store may contain some that cannot be read.
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let none = "the system has no certificate of an authority that can be read";
        let error = found.errors.pop().map(|error| error.to_string());
        return Err(Trouble::lasting(error.as_deref().unwrap_or(none)));
    }
    let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    let name = ServerName::try_from(host).map_err(Trouble::lasting)?.to_owned();

    // 2. The handshake. A server without encryption does not answer it, but answers a plain
    //    command.
    let stream = tcp(host, port).await?;
    let handshake = TlsConnector::from(Arc::new(config)).connect(name, stream);
    let plain = async {
        tokio::time::sleep(PROBE).await;
        answers(host, port, b"PING\r\n", b"+-").await
    };
    let shaken = match select(core::pin::pin!(handshake), core::pin::pin!(plain)).await {
        Either::Left((shaken, _)) => shaken,
        Either::Right((true, _)) => {
            return Err(Trouble::lasting("the server speaks without encryption on this port"));
        }
        Either::Right((false, handshake)) => handshake.await,
    };
    match shaken {
        Ok(stream) => Ok(Box::new(stream)),
        // A certificate that is not valid, or bytes that are no TLS.
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(Trouble::lasting(error)),
        Err(error) => Err(Trouble::passing(error)),
    }
}

/// Whether a server that has closed a plain connection expects encryption: it then answers a record
/// of TLS with one.
pub(crate) async fn expects_encryption(address: &ConnectionAddr) -> bool {
    // FORMAT: RFC 8446, 5.1 and 4: a handshake record with a ClientHello of one byte, which is not
    // valid.
    const HELLO: [u8; 10] = [0x16, 3, 1, 0, 5, 1, 0, 0, 1, 0];
    // The types of an alert and of a handshake.
    let ConnectionAddr::Tcp(host, port) = address else { return false };
    answers(host, *port, &HELLO, &[0x15, 0x16]).await
}

/// Whether the first byte that a server answers is one of these.
async fn answers(host: &str, port: u16, question: &[u8], answers: &[u8]) -> bool {
    let asked = async {
        let mut stream = tcp(host, port).await.ok()?;
        stream.write_all(question).await.ok()?;
        stream.read_u8().await.ok()
    };
    let first = timeout(PROBE, asked).await.ok().flatten();
    first.is_some_and(|byte| answers.contains(&byte))
}
