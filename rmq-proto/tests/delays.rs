//! Delay levels and timers of messages to send (producer §10.2).

use std::time::Duration;

use rmq_proto::message::{DelayLevel, DelayLevelError, DeliveryTime, Message, MessageError, MessageRules};

fn hello() -> Message {
    Message::new("orders", "hello")
}

fn properties(message: Message) -> Result<String, MessageError> {
    message.prepare(&MessageRules::default()).map(|prepared| prepared.properties().to_owned())
}

/// Java checks nothing; a broker takes 19 for 18, and -1 for none.
#[test]
fn x1_a_level_is_from_1_to_18_and_0_is_none() {
    for number in [19, -1, i32::MIN, i32::MAX, 256, 257] {
        assert_eq!(DelayLevel::try_from(number), Err(DelayLevelError { number }));
        assert_eq!(DelayLevel::or_none(number), Err(DelayLevelError { number }));
    }
    assert_eq!(DelayLevel::try_from(0), Err(DelayLevelError { number: 0 }));
    assert_eq!(DelayLevel::or_none(0), Ok(None));
    for number in 1..=18_u8 {
        let level = DelayLevel::try_from(i32::from(number)).unwrap();
        assert_eq!(level.number(), number);
        assert_eq!(DelayLevel::or_none(number.into()), Ok(Some(level)));
        assert_eq!(DelayLevel::new(number), Some(level));
    }
    assert_eq!(
        DelayLevelError { number: 19 }.to_string(),
        "there is no delay level 19: levels are 1 (1 s) to 18 (2 h), and without one there is no delay"
    );

    assert!(!hello().delay_level(None).is_delayed());
    assert_eq!(
        properties(hello().delay_level(DelayLevel::MAX).delay_level(None)).unwrap(),
        "WAIT\u{1}true\u{2}"
    );
    let text = properties(hello().delay_level(DelayLevel::MAX)).unwrap();
    assert_eq!(text, "WAIT\u{1}true\u{2}DELAY\u{1}18\u{2}");
}

#[test]
fn k11_what_the_levels_mean() {
    let minutes = |minutes: u64| minutes * 60;
    let rest = [3_600, 7_200];
    let usual = [1, 5, 10, 30]
        .into_iter()
        .chain((1..=10).map(minutes))
        .chain([20, 30].map(minutes))
        .chain(rest)
        .map(Duration::from_secs);
    let levels = (1..).map_while(DelayLevel::new).map(DelayLevel::usual_delay);
    assert!(levels.eq(usual));
}

#[test]
fn timers_as_properties() {
    let rows = [
        (hello().deliver_after(Duration::from_secs(2)), "TIMER_DELAY_MS\u{1}2000\u{2}"),
        // Never before its time.
        (hello().deliver_after(Duration::from_micros(1)), "TIMER_DELAY_MS\u{1}1\u{2}"),
        (hello().deliver_after(Duration::ZERO), "TIMER_DELAY_MS\u{1}0\u{2}"),
        (hello().deliver_at(1_700_000_000_123), "TIMER_DELIVER_MS\u{1}1700000000123\u{2}"),
        // The last call counts.
        (hello().deliver_at(7).deliver_after(Duration::from_millis(8)), "TIMER_DELAY_MS\u{1}8\u{2}"),
    ];
    for (message, text) in rows {
        assert!(message.is_delayed());
        let all = properties(message.key("k").property("p", "v")).unwrap();
        assert_eq!(all, format!("KEYS\u{1}k\u{2}WAIT\u{1}true\u{2}{text}p\u{1}v\u{2}"));
    }
}

#[test]
fn what_was_set_can_be_seen() {
    assert_eq!((hello().level(), hello().delivery_time(), hello().is_delayed()), (None, None, false));
    let level = hello().delay_level(DelayLevel::MIN);
    assert_eq!(
        (level.level(), level.delivery_time(), level.is_delayed()),
        (Some(DelayLevel::MIN), None, true)
    );
    let after = Duration::from_secs(1);
    assert_eq!(hello().deliver_after(after).delivery_time(), Some(DeliveryTime::After(after)));
    assert_eq!(hello().deliver_at(5).delivery_time(), Some(DeliveryTime::At { unix_ms: 5 }));
}

#[test]
fn a_level_and_a_timer_contradict_each_other() {
    let two = Err(MessageError::TwoDelays { topic: "orders".to_owned() });
    let both = hello().delay_level(DelayLevel::MIN).deliver_at(1);
    assert_eq!(properties(both.clone()), two);
    assert_eq!(properties(hello().deliver_after(Duration::ZERO).delay_level(DelayLevel::MIN)), two);
    assert!(properties(both.delay_level(None)).is_ok());
}

/// A broker adds its clock to a delay.
#[test]
fn no_delay_overflows_at_a_broker() {
    let too_long = Err(MessageError::DelayTooLong { topic: "orders".to_owned() });
    let most = i64::MAX as u64 / 2;
    assert!(properties(hello().deliver_after(Duration::from_millis(most))).is_ok());
    assert!(properties(hello().deliver_at(most)).is_ok());
    assert_eq!(properties(hello().deliver_after(Duration::from_millis(most + 1))), too_long);
    assert_eq!(properties(hello().deliver_after(Duration::MAX)), too_long);
    assert_eq!(properties(hello().deliver_at(most + 1)), too_long);
    assert_eq!(properties(hello().deliver_at(u64::MAX)), too_long);
}

#[test]
fn the_method_is_named_that_sets_a_reserved_property() {
    let rows = [
        ("DELAY", "delay_level"),
        ("TIMER_DELAY_SEC", "deliver_after"),
        ("TIMER_DELAY_MS", "deliver_after"),
        ("TIMER_DELIVER_MS", "deliver_at"),
    ];
    for (name, method) in rows {
        let instead = Some(method);
        let error =
            MessageError::ReservedProperty { topic: "orders".to_owned(), name: name.to_owned(), instead };
        assert_eq!(properties(hello().property(name, "1")), Err(error));
    }
}
