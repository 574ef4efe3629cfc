//! Bodies of consumers that pop: wire §5.18, E17, consumer §3.7.

use rmq_proto::body::*;

use crate::support::{assert_text, decode, queue};

#[test]
fn assignments() {
    let request = QueryAssignmentRequest {
        client_id: "c".to_owned(),
        consumer_group: "g".to_owned(),
        message_model: MessageModel::Clustering,
        strategy_name: "AVG".to_owned(),
        topic: "T".to_owned(),
    };
    assert_text(
        &request,
        r#"{"clientId":"c","consumerGroup":"g","messageModel":"CLUSTERING","strategyName":"AVG","topic":"T"}"#,
    );

    // None at all is not the same as an empty list.
    assert_text(&QueryAssignmentResponse { assignments: None }, "{}");
    assert_eq!(
        decode(r#"{"messageQueueAssignments":null}"#),
        Ok(QueryAssignmentResponse { assignments: None })
    );
    assert_text(&QueryAssignmentResponse { assignments: Some(vec![]) }, r#"{"messageQueueAssignments":[]}"#);
    let text = |mode: &str| {
        format!(
            r#"{{"messageQueueAssignments":[{{"messageQueue":{{"brokerName":"b","queueId":-1,"topic":"T"}}{mode}}}]}}"#
        )
    };
    let assigned = |mode| {
        let message_queue = queue("T", "b", -1);
        QueryAssignmentResponse {
            assignments: Some(vec![MessageQueueAssignment { attachments: None, message_queue, mode }]),
        }
    };
    assert_text(&assigned(MessageRequestMode::Pop), &text(r#","mode":"POP""#));
    assert_text(&assigned(MessageRequestMode::Pull), &text(r#","mode":"PULL""#));
    for mode in ["", r#","mode":null"#, r#","mode":"PUSH""#, r#","mode":0"#, r#","mode":7"#, r#","mode":"""#]
    {
        assert_eq!(decode(&text(mode)), Ok(assigned(MessageRequestMode::Pull)), "{mode}");
    }
    assert_eq!(decode(&text(r#","mode":1"#)), Ok(assigned(MessageRequestMode::Pop)));
}

#[test]
fn acknowledgements() {
    // Wire E17.
    let text = r#"{"acks":[{"b":"AQI=","c":"G","it":4,"pt":3,"q":1,"r":"0","rq":2,"so":5,"t":"T"}],"brokerName":"b"}"#;
    let mut ack = BatchAck {
        bits: AckBits::default(),
        consumer_group: "G".to_owned(),
        invisible_time: 4,
        pop_time: 3,
        queue_id: 1,
        retry: "0".to_owned(),
        revive_queue_id: 2,
        start_offset: 5,
        topic: "T".to_owned(),
    };
    for offset in [14, 5, 14] {
        ack.insert(offset).unwrap();
    }
    assert_eq!(ack.offsets().collect::<Vec<_>>(), [5, 14]);
    assert_eq!(ack.bits.iter().collect::<Vec<_>>(), [0, 9]);
    assert_text(&BatchAckRequest { acks: vec![ack.clone()], broker_name: "b".to_owned() }, text);

    let first = i64::from(MAX_ACK_BITS) + 5;
    for offset in [4, -1, i64::MIN, first, i64::MAX] {
        assert_eq!(ack.insert(offset), Err(AckOffsetError { offset, start_offset: 5 }));
    }
    ack.insert(first - 1).unwrap();
    assert_eq!(ack.offsets().collect::<Vec<_>>(), [5, 14, first - 1]);
}

#[test]
fn bits_of_acknowledgements() {
    let decoded = |bits: &str, start: i64| {
        let text =
            format!(r#"{{"acks":[{{"b":{bits},"c":"G","r":"0","so":{start},"t":"T"}}],"brokerName":"b"}}"#);
        let request = decode::<BatchAckRequest>(&text)?;
        let again = BatchAckRequest::decode(&request.encode()).unwrap();
        assert_eq!(again, request, "{bits}");
        Ok::<_, BodyError>(request.acks[0].offsets().collect::<Vec<_>>())
    };
    let rows: &[(&str, i64, &[i64])] = &[
        (r#""""#, 7, &[]),
        ("null", 7, &[]),
        (r#""AA==""#, 7, &[]),
        (r#""CQ==""#, 0, &[0, 3]),
        (r#""AQIAAA==""#, -5, &[-5, 4]),
        (r#""AQI""#, 5, &[5, 14]),
        (r#""gA==""#, 0, &[7]),
        (
            r#""/\/8=""#,
            100,
            &[100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115],
        ),
        // The last offsets there are.
        (r#""DQ==""#, i64::MAX - 2, &[i64::MAX - 2, i64::MAX]),
        (r#""DQ==""#, i64::MAX - 1, &[i64::MAX - 1]),
    ];
    for (bits, start, offsets) in rows {
        assert_eq!(decoded(bits, *start).as_deref(), Ok(*offsets), "{bits}");
    }
    let longest = format!("{}{}", "A".repeat(10_922), "E");
    assert!(decoded(&format!("\"{longest}\""), 0).is_ok_and(|offsets| offsets == [65_528]));
    let too_long = format!("{}AQ==", "AAAA".repeat(8_192 / 3 + 1));
    for bits in [
        r#""A""#,
        r#""A===""#,
        r#""AQ=I""#,
        r#""_w==""#,
        r#""A Q I=""#,
        "[]",
        "{}",
        &format!("\"{too_long}\""),
    ] {
        assert!(matches!(decoded(bits, 0), Err(BodyError::AckBits { .. })), "{bits}");
    }
}
