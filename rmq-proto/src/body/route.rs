//! The route of a topic: which brokers have it, at which addresses, with how many queues (wire §2.5).

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use bytes::{Bytes, BytesMut};

use super::{BodyError, enter, list, required, text};
use crate::json::{Reader, Writer};

/// Permission bit of a queue that may be written to (wire §2.5).
pub const PERM_WRITE: i32 = 2;

/// Permission bit of a queue that may be read from (wire §2.5).
pub const PERM_READ: i32 = 4;

/// The broker id of a master; slaves have others (wire §2.5).
pub const MASTER_ID: i64 = 0;

/// What a name server answers to GET_ROUTEINFO_BY_TOPIC (wire §2.5).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicRouteData {
    /// Queues in an order that is fixed: `broker-a:4;broker-b:2`. Absent for ordinary topics.
    pub order_topic_conf: Option<String>,
    /// What each broker has of the topic.
    pub queue_datas: Vec<QueueData>,
    /// The brokers.
    pub broker_datas: Vec<BrokerData>,
}

/// How many queues of a topic one broker has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueData {
    /// The broker.
    pub broker_name: String,
    /// Queues that can be read from; their ids count from 0. As the peer says it, which may be any number.
    pub read_queue_nums: i32,
    /// Queues that can be written to; their ids count from 0. As the peer says it, which may be any number.
    pub write_queue_nums: i32,
    /// Permission bits: [`PERM_READ`], [`PERM_WRITE`] and others.
    pub perm: i32,
    /// Flags of the topic, of no use to clients.
    pub topic_sys_flag: i32,
}

/// A broker: one master and its slaves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BrokerData {
    /// Its cluster; empty when the peer names none.
    pub cluster: String,
    /// Its name.
    pub broker_name: String,
    /// Addresses `host:port` by broker id; [`MASTER_ID`] is the master's.
    pub addresses: BTreeMap<i64, String>,
    /// Whether a slave stands in for a lost master. Absent from name servers before 5.0.
    pub enable_acting_master: Option<bool>,
}

impl QueueData {
    /// Whether the queues may be written to.
    pub const fn is_writable(&self) -> bool {
        self.perm & PERM_WRITE != 0
    }

    /// Whether the queues may be read from.
    pub const fn is_readable(&self) -> bool {
        self.perm & PERM_READ != 0
    }
}

impl BrokerData {
    /// The address of its master, if it has one.
    pub fn master_address(&self) -> Option<&str> {
        self.addresses.get(&MASTER_ID).map(String::as_str)
    }
}

impl TopicRouteData {
    /// Reads the body of an answer, with quoted or unquoted broker ids (wire §2.4). `{}` is a route without brokers. The
    /// mapping of static topics is passed over.
    ///
    /// # Errors
    ///
    /// No body, `null`, a text that is cut or is no JSON, a number that does not fit, a broker or queue without its
    /// broker's name, and references that do not lead to an earlier member of the same list.
    pub fn decode(body: &[u8]) -> Result<Self, BodyError> {
        let mut json = enter(body)?;
        let mut route = Self::default();
        while let Some(member) = json.key()? {
            match &*member {
                "orderTopicConf" => route.order_topic_conf = text(&mut json)?,
                "queueDatas" => route.queue_datas = list(&mut json, QueueData::read)?,
                "brokerDatas" => route.broker_datas = list(&mut json, BrokerData::read)?,
                _ => json.skip()?,
            }
        }
        json.finish()?;
        Ok(route)
    }

    /// The body as a name server of version 5.3 writes it: all keys quoted.
    pub fn encode(&self) -> Bytes {
        let mut out = BytesMut::new();
        let mut json = Writer::new(&mut out);
        json.begin_object();
        json.key("brokerDatas");
        json.begin_array();
        self.broker_datas.iter().for_each(|broker| broker.write(&mut json));
        json.end_array();
        json.key("filterServerTable");
        json.begin_object();
        json.end_object();
        if let Some(conf) = &self.order_topic_conf {
            json.key("orderTopicConf");
            json.text(conf);
        }
        json.key("queueDatas");
        json.begin_array();
        self.queue_datas.iter().for_each(|queues| queues.write(&mut json));
        json.end_array();
        json.end_object();
        out.freeze()
    }

    /// Whether a client need not act on `other` after `self`: the order of brokers does not count, nor do cluster and
    /// acting master (producer §3.3 step 4).
    pub fn same_as(&self, other: &Self) -> bool {
        self.order_topic_conf == other.order_topic_conf
            && sorted(&self.queue_datas, |queues| &queues.broker_name)
                .eq(sorted(&other.queue_datas, |queues| &queues.broker_name))
            && sorted(&self.broker_datas, |broker| &broker.broker_name)
                .map(|broker| (&broker.broker_name, &broker.addresses))
                .eq(sorted(&other.broker_datas, |broker| &broker.broker_name)
                    .map(|broker| (&broker.broker_name, &broker.addresses)))
    }
}

fn sorted<T>(items: &[T], name: impl Fn(&T) -> &String) -> impl Iterator<Item = &T> {
    let mut items: Vec<_> = items.iter().collect();
    items.sort_by(|a, b| name(a).cmp(name(b)));
    items.into_iter()
}

/// fastjson writes an object that comes a second time as `{"$ref":"$.list[index]"}` (wire §2.4).
trait Repeatable: Clone {
    const LIST: &'static str;

    /// Bytes of text in it.
    fn text_len(&self) -> usize;

    /// The element that `reference` leads to. What can be repeated is bounded, so that a short body cannot make a long
    /// route.
    fn repeated(reference: &str, before: &[Self], json: &Reader<'_>) -> Result<Self, BodyError> {
        const MAX_TEXT_LEN: usize = 1024;
        let index = reference.strip_prefix("$.").and_then(|rest| rest.strip_prefix(Self::LIST));
        let index = index.and_then(|rest| rest.strip_prefix('[')?.strip_suffix(']'));
        let element = index.and_then(|index| before.get(index.parse::<usize>().ok()?));
        match element {
            Some(element) if element.text_len() <= MAX_TEXT_LEN => Ok(element.clone()),
            _ => Err(BodyError::Reference { offset: json.offset() }),
        }
    }
}

impl Repeatable for QueueData {
    const LIST: &'static str = "queueDatas";

    fn text_len(&self) -> usize {
        self.broker_name.len()
    }
}

impl Repeatable for BrokerData {
    const LIST: &'static str = "brokerDatas";

    fn text_len(&self) -> usize {
        let addresses: usize =
            self.addresses.values().map(|address| address.len() + size_of::<(i64, String)>()).sum();
        self.broker_name.len() + self.cluster.len() + addresses
    }
}

impl QueueData {
    fn read(json: &mut Reader<'_>, before: &[Self]) -> Result<Self, BodyError> {
        let mut queues = Self::default();
        let (mut name, mut reference) = (None, None);
        let is_object = json.object()?;
        while is_object && let Some(member) = json.key()? {
            match &*member {
                "brokerName" => name = text(json)?,
                "perm" => queues.perm = json.i32()?.unwrap_or_default(),
                "readQueueNums" => queues.read_queue_nums = json.i32()?.unwrap_or_default(),
                "writeQueueNums" => queues.write_queue_nums = json.i32()?.unwrap_or_default(),
                // The second is how name servers before 4.9 spell it.
                "topicSysFlag" | "topicSynFlag" => queues.topic_sys_flag = json.i32()?.unwrap_or_default(),
                "$ref" => reference = json.text()?,
                _ => json.skip()?,
            }
        }
        if let Some(reference) = reference {
            return Self::repeated(&reference, before, json);
        }
        queues.broker_name = required(name, "brokerName", json)?;
        Ok(queues)
    }

    fn write(&self, json: &mut Writer<'_>) {
        json.begin_object();
        json.key("brokerName");
        json.text(&self.broker_name);
        json.key("perm");
        json.integer(self.perm.into());
        json.key("readQueueNums");
        json.integer(self.read_queue_nums.into());
        json.key("topicSysFlag");
        json.integer(self.topic_sys_flag.into());
        json.key("writeQueueNums");
        json.integer(self.write_queue_nums.into());
        json.end_object();
    }
}

impl BrokerData {
    fn read(json: &mut Reader<'_>, before: &[Self]) -> Result<Self, BodyError> {
        let mut broker = Self::default();
        let (mut name, mut reference) = (None, None);
        let is_object = json.object()?;
        while is_object && let Some(member) = json.key()? {
            match &*member {
                "brokerAddrs" => broker.addresses = addresses(json)?,
                "brokerName" => name = text(json)?,
                "cluster" => broker.cluster = text(json)?.unwrap_or_default(),
                "enableActingMaster" => broker.enable_acting_master = json.boolean()?,
                "$ref" => reference = json.text()?,
                _ => json.skip()?,
            }
        }
        if let Some(reference) = reference {
            return Self::repeated(&reference, before, json);
        }
        broker.broker_name = required(name, "brokerName", json)?;
        Ok(broker)
    }

    fn write(&self, json: &mut Writer<'_>) {
        json.begin_object();
        json.key("brokerAddrs");
        json.begin_object();
        for (id, address) in &self.addresses {
            json.key(&alloc::format!("{id}"));
            json.text(address);
        }
        json.end_object();
        json.key("brokerName");
        json.text(&self.broker_name);
        json.key("cluster");
        json.text(&self.cluster);
        if let Some(enabled) = self.enable_acting_master {
            json.key("enableActingMaster");
            json.boolean(enabled);
        }
        json.end_object();
    }
}

fn addresses(json: &mut Reader<'_>) -> Result<BTreeMap<i64, String>, BodyError> {
    let mut addresses = BTreeMap::new();
    let is_object = json.object()?;
    while is_object && let Some(id) = json.key()? {
        let id = id.parse().map_err(|_| BodyError::BrokerId { offset: json.offset() })?;
        if let Some(address) = json.text()?.map(Cow::into_owned) {
            addresses.insert(id, address);
        }
    }
    Ok(addresses)
}
