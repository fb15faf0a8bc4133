//! Connections with encryption: the server must have a certificate that the client can check.

use std::process::Command;
use std::{env, fs};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use tamis_redis::RedisBloomFilter;
use tempfile::TempDir;

use crate::harness::{PATIENCE, Server};

/// The environment variable with the address for a client in a process of its own. The file with
/// the certificates of the authorities that it trusts is in the environment, and is read once.
const ADDRESS: &str = "TAMIS_REDIS_ENCRYPTED";

/// The name of the test that is the client in other processes.
const CLIENT: &str = "encrypted::a_certificate_is_checked";

/// A server with a certificate for `localhost`, and the certificates of two authorities.
struct Encrypted {
    server: Server,
    /// The port of the server for connections with encryption.
    port: u16,
    folder: TempDir,
}

impl Encrypted {
    /// Starts the server. Returns `None` if it is not installed and not required.
    fn start() -> Option<Self> {
        let server = Server::start()?;
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let write = |name: &str, text: &str| fs::write(path(name), text).unwrap();

        // 1. Two authorities. The first signs the certificate of the server.
        let [authority, _] = ["authority", "other"].map(|name| {
            let mut parameters = CertificateParams::new([]).unwrap();
            parameters.distinguished_name.push(DnType::CommonName, name);
            parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            let key = KeyPair::generate().unwrap();
            write(name, &parameters.self_signed(&key).unwrap().pem());
            Issuer::new(parameters, key)
        });
        let key = KeyPair::generate().unwrap();
        let parameters = CertificateParams::new(["localhost".to_owned()]).unwrap();
        write("certificate", &parameters.signed_by(&key, &authority).unwrap().pem());
        write("key", &key.serialize_pem());

        // The store of a system may contain one that cannot be read.
        let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        write("mixed", &(broken.to_owned() + &fs::read_to_string(path("authority")).unwrap()));

        // 2. A second port. The harness uses the first. The number plus 10,000 is free too.
        let port = server.port() + 10_000;
        server.command(&["ACL", "SETUSER", "client", "on", ">secret", "~*", "+@all"]);
        let file = |name| path(name).display().to_string();
        let mut set = redis::cmd("CONFIG");
        set.arg("SET").arg("tls-cert-file").arg(file("certificate"));
        set.arg("tls-key-file").arg(file("key")).arg("tls-auth-clients").arg("no");
        let set = set.arg("tls-port").arg(port).exec(&mut server.connection());
        set.expect("a server that is built with TLS");
        Some(Self { server, port, folder })
    }

    /// Uses a filter in another process that trusts an authority. Returns what that prints.
    fn client(&self, port: u16, authority: &str) -> String {
        let output = Command::new(env::current_exe().unwrap())
            .args([CLIENT, "--exact", "--nocapture"])
            .env(ADDRESS, format!("rediss://client:secret@localhost:{port}/"))
            .env("SSL_CERT_FILE", self.folder.path().join(authority))
            .env_remove("SSL_CERT_DIR")
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(!text.contains("secret"), "{text}");
        text
    }
}

/// Creates or opens a filter and uses it, and prints the verdicts or the error.
fn print_verdicts(address: &str) {
    let builder =
        RedisBloomFilter::<str>::builder(address, "seen").capacity(1000).false_positive_rate(1e-12);
    match builder.timeout(PATIENCE).deadline(PATIENCE).open_or_create() {
        Ok(filter) => println!("verdicts: {:?}", filter.insert_many(["a", "b", "a"])),
        Err(error) => println!("error: {error}"),
    }
}

#[test]
fn a_certificate_is_checked() {
    if let Ok(address) = env::var(ADDRESS) {
        return print_verdicts(&address);
    }
    let Some(encrypted) = Encrypted::start() else { return };
    let (plain, port) = (encrypted.server.port(), encrypted.port);
    let said = encrypted.client(port, "authority");
    assert!(said.contains("verdicts: [Ok(true), Ok(true), Ok(false)]"), "{said}");
    let said = encrypted.client(port, "mixed");
    assert!(said.contains("verdicts: [Ok(false), Ok(false), Ok(false)]"), "{said}");
    let ca = encrypted.folder.path().join("authority").display().to_string();
    // The same filter, without encryption.
    let filter = RedisBloomFilter::<str>::builder(&encrypted.server.url(), "seen").open().unwrap();
    assert_eq!(filter.contains_many(["a", "b", "c"]), Ok(vec![true, true, false]));

    let executed = encrypted.server.inserts();
    let said = encrypted.client(port, "other");
    assert!(said.contains("error: ") && said.contains("UnknownIssuer"), "{said}");
    // A server that wants certificates of its clients.
    encrypted.server.command(&[
        "CONFIG",
        "SET",
        "tls-auth-clients",
        "yes",
        "tls-ca-cert-file",
        &ca,
    ]);
    let said = encrypted.client(port, "authority");
    assert!(said.contains("error: cannot connect") && said.contains("Certificate"), "{said}");
    let said = encrypted.client(plain, "authority");
    assert!(said.contains("error: "), "{said}");
    // These clients have inserted nothing.
    assert_eq!(encrypted.server.inserts(), executed);
}
