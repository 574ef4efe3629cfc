//! Bodies that are compressed (wire §6.1, §6.3).

use rmq_tokio::{Client, Compression, Message};

use crate::cluster::{UnderTest, new_name};
use crate::reading::only;

const MOST: usize = 1 << 20;

async fn is_read_back(under_test: &UnderTest, kind: Option<Compression>) {
    let (client, producer) = under_test.client_of(Client::builder().compression(kind).compress_from(1_000));
    let plain = "a body that repeats itself. ".repeat(1_000);
    for (what, body) in [("long", plain.as_str()), ("short", "short")] {
        let topic = new_name("compressed");
        producer.send(Message::new(&*topic, body.to_owned())).await.unwrap();
        let mut stored = only(&under_test.place, &topic).await.message;
        let is_compressed = what == "long" && kind.is_some();
        assert_eq!(stored.sys_flag.is_compressed(), is_compressed, "{what}, {kind:?}");
        if is_compressed {
            assert_eq!(stored.sys_flag.compression(), kind);
            assert!(stored.body.len() < body.len() / 10, "{} bytes", stored.body.len());
        }
        assert!(stored.crc_matches(), "the checksum is that of the bytes that are stored");
        stored.inflate(MOST).unwrap();
        assert_eq!(stored.body, body, "{what}, {kind:?}");
    }
    client.shutdown().await.unwrap();
}

pub(crate) async fn zlib_is_read_back(under_test: &UnderTest) {
    is_read_back(under_test, Some(Compression::Zlib)).await;
}

/// Brokers look into no body, so those of 4.9 store the formats, too, that their clients do not know.
pub(crate) async fn other_formats_are_read_back(under_test: &UnderTest) {
    for kind in [Some(Compression::Lz4), Some(Compression::Zstd), None] {
        is_read_back(under_test, kind).await;
    }
}
