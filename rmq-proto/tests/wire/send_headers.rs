//! Headers of sends as their constructors make them (wire §5.1).

use rmq_proto::header::{SendMessageHeader, SendMessageV2Header};

use crate::typed_headers_examples::assert_written;

/// A15: brokers fail where an optional number or flag is missing that they take for granted.
#[test]
fn a15_what_brokers_need_is_always_sent() {
    assert_written(
        &SendMessageV2Header::new("PG", "T"),
        "a=PG | b=T | c=TBW102 | d=4 | e=-1 | f=0 | g=0 | h=0 | j=0 | k=false | m=false",
    );
    assert_written(
        &SendMessageV2Header::new("PG", "%RETRY%g"),
        "a=PG | b=%RETRY%g | c=TBW102 | d=4 | e=-1 | f=0 | g=0 | h=0 | j=0 | k=false | l=16 | m=false",
    );
    assert_written(
        &SendMessageHeader::new("PG", "%RETRY%g"),
        "producerGroup=PG | topic=%RETRY%g | defaultTopic=TBW102 | defaultTopicQueueNums=4 | queueId=-1 | sysFlag=0 | \
         bornTimestamp=0 | flag=0 | reconsumeTimes=0 | unitMode=false | maxReconsumeTimes=16 | batch=false",
    );
}

#[test]
fn properties_of_retries_have_fields_of_their_own() {
    let text = "RECONSUME_TIME\u{1}3\u{2}MAX_RECONSUME_TIMES\u{1}5\u{2}";
    let of = |topic, text| {
        let header = SendMessageV2Header::new("PG", topic).with_properties(text);
        assert_eq!(header.properties.as_deref(), Some(text));
        (header.reconsume_times, header.max_reconsume_times)
    };
    assert_eq!(of("%RETRY%g", text), (Some(3), Some(5)));
    assert_eq!(of("%RETRY%g", ""), (Some(0), Some(16)));
    assert_eq!(of("%RETRY%g", "RECONSUME_TIME\u{1}often\u{2}"), (Some(0), Some(16)));
    assert_eq!(of("T", text), (Some(0), None));
    let header = SendMessageHeader::new("PG", "%RETRY%g").with_properties(text);
    assert_eq!((header.reconsume_times, header.max_reconsume_times), (Some(3), Some(5)));
}
