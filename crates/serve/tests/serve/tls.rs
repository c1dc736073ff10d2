//! The page for others: through TLS.

use crate::harness::{Served, answer, folder};
use std::io::Write;
use std::net::TcpStream;
use std::sync::Arc;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

#[test]
fn with_a_certificate_it_speaks_tls_alone() {
    let folder = folder();
    let made = rcgen::generate_simple_self_signed(vec!["bench.lan".to_owned()]).unwrap();
    std::fs::write(folder.join("host.pem"), made.cert.pem()).unwrap();
    std::fs::write(folder.join("host.key"), made.signing_key.serialize_pem()).unwrap();
    let words = ["--certificate", "host.pem", "--key", "host.key", "--name", "bench.lan"];
    let served = Served::begin(folder, &words);
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config =
        config.with_safe_default_protocol_versions().unwrap().with_root_certificates(roots).with_no_client_auth();
    let ask = |head: &str| {
        let name = ServerName::try_from("bench.lan").unwrap();
        let client = ClientConnection::new(Arc::new(config.clone()), name).unwrap();
        let mut stream = StreamOwned::new(client, TcpStream::connect(&served.host).unwrap());
        stream.write_all(format!("{head}\r\nConnection: close\r\n\r\n").as_bytes()).unwrap();
        answer(&mut stream)
    };
    let port = served.host.rsplit_once(':').unwrap().1;
    let host = format!("Host: bench.lan:{port}");
    let entered = ask(&format!("GET /enter?token={} HTTP/1.1\r\n{host}", served.token));
    assert!(entered.status == 303 && entered.head.contains("; secure"), "{entered:?}");
    assert_eq!(ask(&format!("GET /records HTTP/1.1\r\n{host}\r\n{}", served.cookie())).status, 200);
    assert_eq!(ask(&format!("GET /records HTTP/1.1\r\n{host}")).status, 401, "the token is needed all the same");
    // Nothing is answered in the clear, and a handshake that never comes holds up nobody.
    let _silent = TcpStream::connect(&served.host).unwrap();
    let clear = served.get("/records");
    assert!(clear.status == 0 && !clear.body.contains("flashscope"), "{clear:?}");
    assert_eq!(ask(&format!("GET /records HTTP/1.1\r\n{host}\r\n{}", served.cookie())).status, 200);
}
