//! The harness: a server ends with its test, also if the test panics, and a test without a server
//! is skipped only if none is required.

use std::net::TcpStream;
use std::process::{Command, Output};
use std::{env, panic};

use redis::Value;

use crate::harness::Server;

fn connects(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_ok()
}

#[test]
fn a_server_is_gone_after_a_drop_and_after_a_panic() {
    let Some(server) = Server::start() else { return };
    let port = server.port();
    assert_eq!(server.command(&["PING"]), Value::SimpleString("PONG".into()));
    drop(server);
    assert!(!connects(port));

    let server = Server::start().unwrap();
    let port = server.port();
    assert!(connects(port));
    // Unlike `panic!`, this prints no message.
    let panicking = move || {
        let _server = server;
        panic::resume_unwind(Box::new(()));
    };
    assert!(panic::catch_unwind(panic::AssertUnwindSafe(panicking)).is_err());
    assert!(!connects(port));
}

/// Without `redis-server`, a test is skipped, unless the environment requires it or names another
/// program.
#[test]
fn a_missing_server_is_an_error_only_if_it_is_required() {
    let empty = tempfile::tempdir().unwrap();
    let run = |set: &dyn Fn(&mut Command) -> &mut Command| -> Output {
        let mut test = Command::new(env::current_exe().unwrap());
        test.args([
            "harness_works::a_server_is_gone_after_a_drop_and_after_a_panic",
            "--exact",
            "--nocapture",
        ]);
        test.env("PATH", empty.path()).env_remove("TAMIS_REDIS_SERVER");
        set(&mut test).output().unwrap()
    };
    let skipped = run(&|test| test.env_remove("TAMIS_REQUIRE_REDIS"));
    assert!(skipped.status.success(), "{skipped:?}");
    assert!(String::from_utf8_lossy(&skipped.stderr).contains("SKIPPED: "), "{skipped:?}");
    for (name, value) in [("TAMIS_REQUIRE_REDIS", "1"), ("TAMIS_REDIS_SERVER", "no-such-server")] {
        let failed = run(&|test| test.env_remove("TAMIS_REQUIRE_REDIS").env(name, value));
        assert!(!failed.status.success(), "{failed:?}");
        assert!(String::from_utf8_lossy(&failed.stderr).contains("is required"), "{failed:?}");
    }
}
