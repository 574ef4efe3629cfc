//! TLS, against a real cluster that speaks nothing else, on this machine. `RMQ_NAME_SERVER` names it, `RMQ_CLUSTER_DIR/certs` has
//! its certificates, and `RMQ_TLS_CLIENT_AUTH`, `none` or `require`, says whether it wants some of clients. Skipped without
//! the first. It starts nothing itself.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a failing step fails the test; a skipped one says so, and texts of errors are to be read"
)]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rmq_tokio::rustls::crypto::ring;
use rmq_tokio::rustls::pki_types::CertificateDer;
use rmq_tokio::rustls::pki_types::pem::PemObject;
use rmq_tokio::rustls::{ClientConfig, RootCertStore, version};
use rmq_tokio::{Client, Error, Message, SendStatus, TlsConfig, TlsConfigBuilder};
use tokio::task::JoinSet;

struct Cluster {
    name_server: String,
    certs: PathBuf,
    wants_certificates: bool,
}

/// Without one, says that the test is skipped.
fn cluster(test: &str) -> Option<Cluster> {
    let Ok(name_server) = std::env::var("RMQ_NAME_SERVER") else {
        eprintln!("SKIPPED {test}: RMQ_NAME_SERVER is not set");
        return None;
    };
    let certs = PathBuf::from(std::env::var("RMQ_CLUSTER_DIR").unwrap()).join("certs");
    let wants_certificates = match &*std::env::var("RMQ_TLS_CLIENT_AUTH").unwrap() {
        "require" => true,
        "none" => false,
        other => panic!("RMQ_TLS_CLIENT_AUTH={other}"),
    };
    Some(Cluster { name_server, certs, wants_certificates })
}

impl Cluster {
    fn ours(&self) -> TlsConfigBuilder {
        TlsConfig::builder().roots_file(self.certs.join("ca.pem"))
    }

    /// Shows `client` or `other-client`.
    fn with_certificate(&self, tls: TlsConfigBuilder, name: &str) -> TlsConfigBuilder {
        let file = |ending| self.certs.join(format!("{name}.{ending}"));
        tls.client_certificate_files(file("pem"), file("key"))
    }

    fn start(&self, tls: Option<TlsConfig>) -> Client {
        let builder = Client::builder().name_server(&self.name_server);
        match tls {
            Some(tls) => builder.tls(tls),
            None => builder,
        }
        .start()
        .unwrap()
    }

    async fn send(&self, tls: Option<TlsConfig>) -> Result<SendStatus, Error> {
        let client = self.start(tls);
        let sent = client.producer("rmq-tls-test").unwrap().send(Message::new(new_topic(), "x")).await;
        client.shutdown().await.unwrap();
        sent.map(|sent| sent.status)
    }

    async fn sends(&self, tls: TlsConfigBuilder) {
        assert_eq!(self.send(Some(tls.build().unwrap())).await, Ok(SendStatus::SendOk));
    }

    /// Its text must have this in it, and must not have come by a timeout.
    async fn fails(&self, what: &str, tls: Option<TlsConfigBuilder>, expected: &str) {
        let began = tokio::time::Instant::now();
        let error = self.send(tls.map(|tls| tls.build().unwrap())).await.unwrap_err();
        println!("{what}: {error}");
        let text = error.to_string();
        assert!(text.contains(expected) && text.contains(&self.name_server), "{text}");
        assert!(error.is_retryable() && !error.may_have_been_stored());
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    }
}

/// No earlier run used it.
fn new_topic() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    format!("rmq-tls-{}-{}", since.as_micros(), std::process::id())
}

#[tokio::test]
async fn large_and_many_small_messages_are_stored() {
    let Some(cluster) = cluster("large and many small messages") else { return };
    let tls = cluster.with_certificate(cluster.ours(), "client").build().unwrap();
    let client = cluster.start(Some(tls));
    let producer = client.producer("rmq-tls-test").unwrap();
    let topic = new_topic();
    producer.send(Message::new(&*topic, "first")).await.unwrap();
    let mut sends = JoinSet::new();
    for i in 0..1_000 {
        sends.spawn(producer.send(Message::new(&*topic, format!("{i}"))));
    }
    // It does not become smaller when it is compressed.
    let noise =
        (0..3_000_000_u64).map(|i| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8).collect::<Vec<_>>();
    sends.spawn(producer.send(Message::new(&*topic, noise)));
    for sent in sends.join_all().await {
        assert_eq!(sent.unwrap().status, SendStatus::SendOk);
    }
    let stats = client.stats();
    assert_eq!((stats.operations, stats.protocol_errors, stats.misuses), (0, 0, 0));
    client.shutdown().await.unwrap();
}

#[tokio::test]
async fn certificates_of_clients() {
    let Some(cluster) = cluster("certificates of clients") else { return };
    cluster.sends(cluster.with_certificate(cluster.ours(), "client")).await;
    let stranger = || cluster.with_certificate(cluster.ours(), "other-client");
    if cluster.wants_certificates {
        let expected = "; the server wants a certificate of this client";
        cluster.fails("no client certificate", Some(cluster.ours()), expected).await;
        let expected = "; the server does not accept this client's certificate";
        cluster.fails("a stranger's client certificate", Some(stranger()), expected).await;
    } else {
        cluster.sends(cluster.ours()).await;
        cluster.sends(stranger()).await;
    }
}

#[tokio::test]
async fn certificates_of_the_server() {
    let Some(cluster) = cluster("certificates of the server") else { return };
    let own = |tls| cluster.with_certificate(tls, "client");
    let other = TlsConfig::builder().roots_file(cluster.certs.join("other-ca.pem"));
    cluster.fails("wrong CA", Some(own(other)), "TLS: invalid peer certificate: UnknownIssuer").await;
    // It is for localhost and 127.0.0.1.
    cluster.sends(own(cluster.ours().server_name("localhost"))).await;
    let elsewhere = || own(cluster.ours().server_name("elsewhere"));
    let expected = "TLS: invalid peer certificate: certificate not valid for name \"elsewhere\"";
    cluster.fails("another name", Some(elsewhere()), expected).await;
    cluster.sends(elsewhere().dangerously_accept_any_name()).await;
    cluster.sends(own(TlsConfig::builder().dangerously_skip_verification())).await;
}

#[tokio::test]
async fn plaintext_is_not_served() {
    let Some(cluster) = cluster("plaintext") else { return };
    cluster.fails("plaintext", None, "closed by the peer").await;
}

/// Case I5.
#[tokio::test]
async fn i5_versions_are_chosen_by_a_configuration_of_rustls() {
    let Some(cluster) = cluster("versions") else { return };
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(cluster.certs.join("ca.pem")).unwrap()).unwrap();
    let roots = Arc::new(roots);
    for version in [&version::TLS12, &version::TLS13] {
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let config =
            config.with_protocol_versions(&[version]).unwrap().with_root_certificates(Arc::clone(&roots));
        let config = TlsConfig::from_rustls(Arc::new(config.with_no_client_auth()));
        let sent = cluster.send(Some(config)).await;
        match sent {
            Err(error) if cluster.wants_certificates => {
                println!("no client certificate, {:?}: {error}", version.version);
                assert!(error.to_string().contains("TLS: received fatal alert: "), "{error}");
            }
            sent => assert_eq!(sent, Ok(SendStatus::SendOk)),
        }
    }
}
