use core::fmt;
use core::net::IpAddr;

use super::{HexText, RawId};

/// The message id that a client makes, 32 or 56 upper-case hexadecimal digits: the property `UNIQ_KEY` and the `msgId`
/// of a send's result (wire §6.5).
///
/// Of one generator, a later key is greater than an earlier one within a month.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UniqueKey(HexText);

impl UniqueKey {
    /// Its digits.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl fmt::Display for UniqueKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for UniqueKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl AsRef<str> for UniqueKey {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

/// Makes [`UniqueKey`]s: ip, process id, salt, milliseconds since the month began in UTC, and a counter
/// (wire §6.5, producer §6.3).
///
/// No two keys are equal, because:
///
/// - Of one generator, the pair of time and counter only grows. A clock that goes back is not followed until it has
///   caught up. The counter goes on from key to key, and when its 16 bits are used up the time moves on by a
///   millisecond if the clock has not, so the 65,537th key of a millisecond is counted to the next one.
/// - The time begins anew each month; the salt is one higher then, so a process that lives for months does not repeat
///   itself. Java does.
/// - Of two generators, the prefixes differ in ip, process id or salt. Containers often share the first two, so the salt
///   has to be random; it has to differ between the generators of one process, too. The promise is as good as the
///   randomness: two generators with the same ip, process id and salt make the same keys at the same time.
///
/// A generator is not shared: whoever owns it draws all keys, which is why `next` takes `&mut self`.
#[derive(Clone, Debug)]
pub struct UniqueKeyGenerator {
    ip: IpAddr,
    pid: u16,
    salt: u32,
    counter: u16,
    last: Option<Last>,
}

/// The key made last, and what the next one has in common with it.
#[derive(Clone, Debug)]
struct Last {
    unix_ms: u64,
    first_month: u64,
    /// Begin of its month, and end of its day: until then the keys differ in their last 12 digits alone.
    month_start_unix_ms: u64,
    day_end_unix_ms: u64,
    key: UniqueKey,
}

/// The end of the year 9999: a clock past it is taken as standing there, which leaves the time room to move on.
const LATEST_UNIX_MS: u64 = 253_402_300_799_999;

impl UniqueKeyGenerator {
    /// A generator whose counter is at 0. `pid` is the low 16 bits of the process id; `salt` has to be random.
    pub const fn new(ip: IpAddr, pid: u16, salt: [u8; 4]) -> Self {
        Self { ip, pid, salt: u32::from_be_bytes(salt), counter: 0, last: None }
    }

    /// The next key. `unix_ms` is the wall clock in milliseconds since the Unix epoch; it may stand still or go back.
    pub fn next(&mut self, unix_ms: u64) -> UniqueKey {
        let now = unix_ms.min(LATEST_UNIX_MS);
        let now = match &self.last {
            Some(last) => now.max(last.unix_ms + u64::from(self.counter == 0)),
            None => now,
        };
        let (ip, pid, salt) = (self.ip, self.pid, self.salt);
        let last = match &mut self.last {
            Some(last) if now < last.day_end_unix_ms => last,
            last => {
                let first_month = last.as_ref().map(|last| last.first_month);
                last.insert(Last::on_day_of(now, first_month, ip, pid, salt))
            }
        };
        last.unix_ms = now;
        // A month has fewer than 2^32 milliseconds.
        let since_month_began = now - last.month_start_unix_ms;
        last.key.0.set_end(since_month_began << 16 | u64::from(self.counter));
        self.counter = self.counter.wrapping_add(1);
        last.key
    }
}

impl Last {
    /// For the first key of a day, whose last 12 digits are yet to be written.
    #[cold]
    fn on_day_of(now: u64, first_month: Option<u64>, ip: IpAddr, pid: u16, salt: u32) -> Self {
        let month = Month::of(now);
        let first_month = first_month.unwrap_or(month.number);
        // `LATEST_UNIX_MS` bounds the number of months.
        let salt = salt.wrapping_add((month.number - first_month) as u32);
        let mut raw = RawId::new();
        raw.push_ip(ip);
        raw.push(&pid.to_be_bytes());
        raw.push(&salt.to_be_bytes());
        raw.push(&[0; 6]);
        Self {
            unix_ms: now,
            first_month,
            month_start_unix_ms: month.start_unix_ms,
            day_end_unix_ms: (now / DAY_MS + 1) * DAY_MS,
            key: UniqueKey(raw.to_hex()),
        }
    }
}

const DAY_MS: u64 = 86_400_000;

/// A month in UTC.
struct Month {
    /// Consecutive months have consecutive numbers.
    number: u64,
    start_unix_ms: u64,
}

impl Month {
    /// Counts from 1 March of the year 0, so that a leap day is the last day of its year and 400 years, 146,097 days,
    /// begin alike.
    fn of(unix_ms: u64) -> Self {
        const UNIX_EPOCH_DAY: u64 = 719_468;
        let unix_day = unix_ms / DAY_MS;
        let day = unix_day + UNIX_EPOCH_DAY;
        let (era, day) = (day / 146_097, day % 146_097);
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        // From March on, every five months have 153 days.
        let month = (5 * day + 2) / 153;
        let day_of_month = day - (153 * month + 2) / 5;
        Self { number: (400 * era + year) * 12 + month, start_unix_ms: (unix_day - day_of_month) * DAY_MS }
    }
}
