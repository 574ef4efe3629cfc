//! Access control (wire §8), with the accounts of real-broker/cluster.

use rmq_tokio::{Client, Credentials, Error, Message, Producer, SendStatus};

use crate::cluster::{UnderTest, credentials, new_name};
use crate::reading::{read, until};

/// The topic that `acl-user` may send to, and the one that it may only read.
const ALLOWED: &str = "AclPub";
const FORBIDDEN: &str = "AclSub";

fn client(under_test: &UnderTest, credentials: Option<Credentials>) -> (Client, Producer) {
    let builder = Client::builder();
    under_test.client_of(match credentials {
        Some(credentials) => builder.credentials(credentials),
        None => builder,
    })
}

async fn is_sent(under_test: &UnderTest, producer: &Producer) {
    let body = new_name("allowed");
    let sent = producer.send(Message::new(ALLOWED, body.clone())).await.unwrap();
    assert_eq!(sent.status, SendStatus::SendOk);
    let there = async || {
        let found = read(&under_test.place, ALLOWED).await;
        found.into_iter().find(|read| read.message.body == body)
    };
    let stored = until(&format!("{body} is stored"), there).await.message;
    assert_eq!(stored.unique_key(), Some(&*sent.message_id));
    assert!(!stored.properties.contains("Signature"), "{}", stored.properties);
}

async fn is_refused(under_test: &UnderTest, producer: &Producer, topic: &str, words: (&str, &str)) {
    let error = producer.send(Message::new(topic, "refused")).await.unwrap_err();
    let Error::Send(error) = error else { panic!("{error:?}") };
    let code = error.code().map(|code| code.0);
    assert_eq!(code, Some(under_test.by_profile(1, 16)), "{error}");
    let words = under_test.by_profile(words.0, words.1);
    assert!(error.to_string().contains(words), "{error}, wanted: {words}");
}

pub(crate) async fn a_right_key_may_send_what_it_may(under_test: &UnderTest) {
    let (client, producer) = client(under_test, Some(credentials("acl-user", "user-secret")));
    is_sent(under_test, &producer).await;
    let words = (
        "No default permission for topic:AclSub",
        "User:acl-user has no permission to access Topic:AclSub from 127.0.0.1, the decision is deny.",
    );
    is_refused(under_test, &producer, FORBIDDEN, words).await;
    client.shutdown().await.unwrap();
}

pub(crate) async fn wrong_keys_are_refused(under_test: &UnderTest) {
    let wrong = "wrong-secret";
    for (credentials, words) in [
        (
            Some(credentials("acl-user", wrong)),
            ("Check signature failed for accessKey=acl-user", "check signature failed."),
        ),
        (
            Some(credentials("acl-ghost", wrong)),
            ("No acl config for acl-ghost", "User:acl-ghost is not found."),
        ),
        (None, ("No accessKey is configured", "username cannot be null.")),
    ] {
        let (client, producer) = client(under_test, credentials);
        is_refused(under_test, &producer, ALLOWED, words).await;
        client.shutdown().await.unwrap();
    }
}

pub(crate) async fn credentials_are_replaced(under_test: &UnderTest) {
    let (client, producer) = client(under_test, Some(credentials("acl-user", "old-secret")));
    let words = ("Check signature failed for accessKey=acl-user", "check signature failed.");
    is_refused(under_test, &producer, ALLOWED, words).await;
    client.set_credentials(Some(credentials("acl-user", "user-secret")));
    is_sent(under_test, &producer).await;
    client.shutdown().await.unwrap();
}
