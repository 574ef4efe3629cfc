//! Rows 83 to 86, as a client has its messages checked: by its own rules, before there is anything to send. Row 87 is
//! among the replies', row 88 among the batches'.

use super::*;
use rmq_core::proto::message::MessageError;
use rmq_core::proto::names::NameError;

const MAX: usize = 4_194_304;

fn check(message: Message) -> Result<(), MessageError> {
    message.prepare(Net::new().client.message_rules()).map(drop)
}

fn topic(name: &str) -> Result<(), MessageError> {
    check(Message::new(name.to_owned(), "Hello"))
}

rows! {
    row_083 {
        assert_eq!(check(Message::new("T", vec![0; MAX])), Ok(()));
        let error = check(Message::new("T", vec![0; MAX + 1])).unwrap_err();
        assert_eq!(error, MessageError::BodyTooLong { topic: "T".into(), len: MAX + 1, max: MAX });
    }

    row_084 {
        assert_eq!(check(Message::new("T", "")), Err(MessageError::EmptyBody { topic: "T".into() }));
        assert_eq!(check(Message::new("T", "x")), Ok(()));
    }

    row_085 {
        let (longest, too_long) = ("t".repeat(127), "t".repeat(128));
        assert_eq!(topic(&longest), Ok(()));
        for (name, error) in [
            (&*too_long, NameError::TooLong { len: 128, max: 127 }),
            ("a b", NameError::Character { at: 1, found: ' ' }),
            ("x\u{e9}", NameError::Character { at: 1, found: 'é' }),
        ] {
            assert_eq!(topic(name), Err(MessageError::Topic { topic: name.into(), error }));
        }
    }

    row_086 {
        let schedule = "SCHEDULE_TOPIC_XXXX";
        assert_eq!(topic(schedule), Err(MessageError::SystemTopic { topic: schedule.into() }));
        for allowed in ["RMQ_SYS_TRACE_TOPIC", "TBW102"] {
            assert_eq!(topic(allowed), Ok(()));
        }
    }
}
