//! How much of what was written to a socket its peer has not taken.

use std::io;
use std::os::fd::AsFd;

use rustix::ioctl::{Getter, Opcode, ioctl};

/// `SIOCOUTQ`, which has the number of `TIOCOUTQ` and differs between architectures.
const SIOCOUTQ: Opcode = if cfg!(any(target_arch = "mips", target_arch = "mips64")) {
    0x7472
} else if cfg!(any(
    target_arch = "powerpc",
    target_arch = "powerpc64",
    target_arch = "sparc",
    target_arch = "sparc64"
)) {
    0x4004_7473
} else {
    0x5411
};

/// Returns a number that is above 0 while the peer of a socket has not taken all that was written.
/// For a socket between two processes of a machine, the peer takes bytes by reading them; for one
/// between two machines, by acknowledging them.
///
/// # Errors
///
/// If this is no socket, or one of a kind that does not know.
///
/// # Examples
///
/// ```
/// use std::io::{Read, Write};
/// use std::os::unix::net::UnixStream;
/// use tamis_sync::unsent;
///
/// let (mut here, mut there) = UnixStream::pair()?;
/// here.write_all(b"two")?;
/// assert!(unsent(&here)? > 0);
/// there.read_exact(&mut [0; 3])?;
/// assert_eq!(unsent(&here)?, 0);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn unsent(socket: impl AsFd) -> io::Result<u64> {
    // SAFETY: for this opcode the system writes one `c_int`, which is what the getter has room for.
    // If the descriptor is of another kind, the opcode is an error or stands for `TIOCOUTQ`, which
    // writes the same.
    let getter = unsafe { Getter::<SIOCOUTQ, core::ffi::c_int>::new() };
    // SAFETY: as above: the getter is right for its opcode, and no memory of ours is read.
    let unsent = unsafe { ioctl(socket, getter) }?;
    Ok(u64::try_from(unsent).unwrap_or(0))
}
