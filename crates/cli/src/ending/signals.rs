//! The signals that end a program: which of them are received, by which thread, and what they do by
//! default.

#[cfg(unix)]
pub(crate) use self::unix::survive_limits;
#[cfg(unix)]
pub(super) use self::unix::{Signals, end, receive};

#[cfg(unix)]
mod unix {
    use std::sync::{Arc, mpsc};
    use std::{process, thread};

    use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::low_level::emulate_default_handler;
    use signal_hook::{flag, iterator};

    /// The signals that have come. Each is in it as soon as its handler has run.
    pub(crate) struct Signals(iterator::Signals);

    impl Signals {
        /// Takes out one of them.
        pub(crate) fn pending(&mut self) -> Option<i32> {
            self.0.pending().next()
        }
    }

    /// Makes a write beyond the limit of the size of files an error, like that to a full disk.
    pub(crate) fn survive_limits() {
        let _ = flag::register(SIGXFSZ, Arc::default());
    }

    /// Calls `serve` for each signal from now on, in a new thread. Returns `None` if the system
    /// refuses: the signals then do what they do by default.
    pub(crate) fn receive(serve: fn(i32)) -> Option<Signals> {
        let (ready, readiness) = mpsc::channel();
        // The handlers are set in the thread: a signal with a handler and no thread would do
        // nothing.
        let receive = move || {
            let none = || iterator::Signals::new([0; 0]);
            let (Ok(first), Ok(mut all)) = (none(), none()) else { return };
            for signal in received() {
                // In this order, so that a signal that is served is also in `first`.
                for signals in [&first, &all] {
                    let _ = signals.handle().add_signal(signal);
                }
            }
            let _ = ready.send(Signals(first));
            all.forever().for_each(serve);
        };
        thread::Builder::new().name("signals".into()).spawn(receive).ok()?;
        readiness.recv().ok()
    }

    /// Ends the program as the signal does by default.
    pub(crate) fn end(signal: i32) -> ! {
        // The first process of a system or a container ignores what it does not handle.
        if process::id() != 1 {
            let _ = emulate_default_handler(signal);
        }
        process::exit(128 + signal)
    }

    /// The signals that are received: those that end a program by default without a core file, and
    /// that it has not inherited as ignored. Linux says which these are.
    #[cfg(target_os = "linux")]
    fn received() -> Vec<i32> {
        use signal_hook::consts::{SIGALRM, SIGHUP, SIGPROF, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU};
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        let is_ignored = |signal: i32| ignored.unwrap_or(0) >> (signal - 1) & 1 == 1;
        let mut all = vec![SIGINT, SIGTERM, SIGHUP];
        all.extend([SIGALRM, SIGPROF, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU]);
        all.retain(|&signal| !is_ignored(signal));
        all
    }

    /// Other systems do not say which signals were inherited as ignored. SIGHUP is the one that
    /// `nohup` ignores: it is left as it is, and ends the program at once unless it is ignored.
    #[cfg(not(target_os = "linux"))]
    fn received() -> Vec<i32> {
        vec![SIGINT, SIGTERM]
    }
}

#[cfg(not(unix))]
pub(crate) use self::none::survive_limits;
#[cfg(not(unix))]
pub(super) use self::none::{Signals, end, receive};

#[cfg(not(unix))]
mod none {
    //! Without Unix signals, a program that is ended does nothing more.

    use std::process;

    pub(crate) struct Signals;

    impl Signals {
        pub(crate) fn pending(&mut self) -> Option<i32> {
            None
        }
    }

    pub(crate) const fn survive_limits() {}

    pub(crate) fn receive(_serve: fn(i32)) -> Option<Signals> {
        None
    }

    pub(crate) fn end(signal: i32) -> ! {
        process::exit(128 + signal)
    }
}
