//! What a part claims, what it does, and how that was shown: a row a feature.
//!
//! Registers are read, settings are tried and put back, and data are written to and erased from a stretch that the grant is for. What
//! would need something that cannot be undone is not tried, and the row says so.

mod cache;
mod claims;
mod data;
mod settings;

use crate::{Command, EXT_CSD_BYTES, ExtCsd, NotSent, Part, Reply, Setting};
use flashscope_device::{Completion, Content, DeviceError, ExecuteExt, Fill, GrantError, Request, WriteGrant};
use flashscope_units::{Bytes, Nanos};
use std::fmt;

/// What a check is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The revision of EXT_CSD that the part is held against: 6 is 4.5, 7 is 5.0, 8 is 5.1.
    pub revision: u8,
    /// Where data may be written and erased: a stretch of at least [`Asked::LEAST`], at a multiple of it.
    pub from: Bytes,
}

impl Asked {
    /// The stretch that is written to: whole erase groups, as large as they come.
    pub const LEAST: Bytes = Bytes::mib(16);

    /// Its middle, which lies far from tables of partitions.
    pub fn in_the_middle(revision: u8, capacity: Bytes) -> Asked {
        Asked { revision, from: Bytes(capacity.get() / 2).align_down(Asked::LEAST) }
    }
}

/// One of four outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The part does what it claims, as far as that was shown.
    Works,
    /// It does not.
    Fails,
    /// Here it cannot be tried.
    UnsupportedByHost,
    /// The part does not claim it.
    UnsupportedByPart,
}

impl Outcome {
    /// In the words of the output.
    pub fn word(self) -> &'static str {
        match self {
            Outcome::Works => "works",
            Outcome::Fails => "fails",
            Outcome::UnsupportedByHost => "unsupported by host",
            Outcome::UnsupportedByPart => "unsupported by part",
        }
    }
}

/// A feature, what its registers claim, what came of it, and how that was shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The feature.
    pub feature: &'static str,
    /// What the registers say of it.
    pub claims: String,
    /// What came of it.
    pub outcome: Outcome,
    /// How that was shown.
    pub shown: String,
}

/// The table of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// A row a feature, in the order of the design.
    pub rows: Vec<Row>,
    /// How long it took on the part's clock.
    pub took: Nanos,
}

/// Why a check could not go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckError {
    /// The part has no EXT_CSD, or it cannot be read.
    NoExtCsd(String),
    /// The device is gone, or the system does not go on.
    Device(DeviceError),
    /// The right to write does not cover the stretch.
    Grant(GrantError),
    /// Somebody asked to stop; settings were put back.
    Stopped,
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckError::NoExtCsd(why) => write!(f, "EXT_CSD cannot be read: {why}"),
            CheckError::Device(error) => write!(f, "{error}"),
            CheckError::Grant(_) => f.write_str("the right to write does not cover the stretch that is checked"),
            CheckError::Stopped => f.write_str("stopped; settings are as they were"),
        }
    }
}

impl std::error::Error for CheckError {}

impl From<DeviceError> for CheckError {
    fn from(error: DeviceError) -> CheckError {
        CheckError::Device(error)
    }
}

impl From<GrantError> for CheckError {
    fn from(error: GrantError) -> CheckError {
        CheckError::Grant(error)
    }
}

/// What a row is made of: what is claimed, what came of it, how it was shown.
type Found = (String, Outcome, String);

/// One feature and the function that looks at it.
type Step<P> = (&'static str, fn(&mut Bench<'_, P>) -> Result<Found, CheckError>);

/// Checks a part. Settings are put back; what stood in the stretch is destroyed.
///
/// `go_on` is told the feature that comes next and its share of the whole, and says whether to go on.
///
/// # Errors
/// Those of [`CheckError`]; a feature that fails is a row.
pub fn check<P: Part>(
    part: &mut P,
    grant: &mut WriteGrant,
    asked: Asked,
    go_on: &mut dyn FnMut(&'static str, f64) -> bool,
) -> Result<Checked, CheckError> {
    let steps: [Step<P>; 26] = [
        ("revision", claims::revision),
        ("capacity", claims::capacity),
        ("discard", data::discard),
        ("trim", data::trim),
        ("erase", data::erase),
        ("secure erase and trim", data::secure),
        ("sanitise", data::sanitize),
        ("cache", cache::cache),
        ("flush", cache::flush),
        ("cache barrier", cache::barrier),
        ("packed commands", data::packed),
        ("reliable write", data::reliable),
        ("high-priority interrupt", settings::interrupt),
        ("background operations", settings::background),
        ("power-off notification", settings::notification),
        ("RPMB", claims::rpmb),
        ("contexts", data::contexts),
        ("data tags", data::tags),
        ("production state awareness", claims::production),
        ("command queue", settings::queue),
        ("enhanced strobe", claims::strobe),
        ("bus modes", claims::bus),
        ("hardware reset", claims::reset),
        ("field firmware update", claims::firmware),
        ("boot partitions", claims::boot),
        ("enhanced and general-purpose areas", claims::areas),
    ];
    let began = part.now();
    let mut bench = Bench::begin(part, grant, asked)?;
    let cache_was_on = bench.register.get(33) == Some(1);
    let mut rows = Vec::with_capacity(steps.len());
    let mut ended = Ok(());
    for (number, (feature, look)) in steps.iter().enumerate() {
        if !go_on(feature, number as f64 / steps.len() as f64) {
            ended = Err(CheckError::Stopped);
            break;
        }
        match look(&mut bench) {
            Ok((claims, outcome, shown)) => rows.push(Row { feature, claims, outcome, shown }),
            Err(error) => {
                ended = Err(error);
                break;
            }
        }
    }
    // Whatever came of it, the cache is as it was.
    if bench.register.number(249, 4).is_some_and(|size| size > 0) {
        let _ = bench.send(&[Command::switch(Setting::Cache(cache_was_on))]);
    }
    ended?;
    let took = bench.part.now().since(began);
    Ok(Checked { rows, took })
}

/// A part under check.
struct Bench<'a, P> {
    part: &'a mut P,
    grant: &'a mut WriteGrant,
    asked: Asked,
    /// EXT_CSD as it was at the beginning.
    register: ExtCsd,
    generation: u32,
    /// What the cache was found to do to the time of a short write.
    cached: Option<cache::Times>,
}

/// What came of a command.
enum Sent {
    Done(Reply),
    /// The part said no; in words.
    Refused(&'static str),
    /// The host did not send it; why.
    NotByHost(String),
}

impl<'a, P: Part> Bench<'a, P> {
    fn begin(part: &'a mut P, grant: &'a mut WriteGrant, asked: Asked) -> Result<Self, CheckError> {
        let unknown = ExtCsd::unknown();
        let mut bench = Bench { part, grant, asked, register: unknown, generation: 0, cached: None };
        bench.register = bench.read()?;
        Ok(bench)
    }

    fn send(&mut self, commands: &[Command]) -> Result<Sent, CheckError> {
        match self.part.send(commands) {
            Ok(reply) => Ok(reply.failed().map_or(Sent::Done(reply), Sent::Refused)),
            Err(NotSent::ByHost(why)) => Ok(Sent::NotByHost(why)),
            Err(NotSent::Gone(error)) => Err(error.into()),
        }
    }

    /// EXT_CSD as it is now.
    fn read(&mut self) -> Result<ExtCsd, CheckError> {
        let no = |why: &str| CheckError::NoExtCsd(why.to_owned());
        match self.send(&[Command::send_ext_csd()])? {
            Sent::Done(reply) => {
                let bytes =
                    <[u8; EXT_CSD_BYTES]>::try_from(reply.data).map_err(|_| no("the part sent something else"))?;
                Ok(ExtCsd::whole(bytes))
            }
            Sent::Refused(why) => Err(no(why)),
            Sent::NotByHost(why) => Err(no(&why)),
        }
    }

    /// Sets a byte and reads it again; `None` where it is what it was set to.
    fn set(&mut self, setting: Setting) -> Result<Option<(Outcome, String)>, CheckError> {
        let (place, value) = setting.place();
        Ok(match self.send(&[Command::switch(setting)])? {
            Sent::Done(_) => {
                let now = self.read()?.get(place.into());
                (now != Some(value)).then(|| {
                    let now = now.map_or("nothing".to_owned(), |now| now.to_string());
                    (Outcome::Fails, format!("byte {place} was set to {value} without an error, and reads as {now}"))
                })
            }
            Sent::Refused(why) => Some((Outcome::Fails, format!("byte {place} cannot be set: {why}"))),
            Sent::NotByHost(why) => Some((Outcome::UnsupportedByHost, why)),
        })
    }

    /// Writes a range with tags of a generation of their own.
    fn write(&mut self, from: Bytes, length: Bytes, durable: bool) -> Result<(Completion, Fill), CheckError> {
        self.generation += 1;
        let fill = Fill::Tagged { generation: self.generation };
        let request = Request::write(self.grant, 0, from, length, fill, durable)?;
        Ok((self.part.execute(request)?, fill))
    }

    /// Whether a range reads as it was written.
    fn keeps(&mut self, from: Bytes, length: Bytes, fill: Fill) -> Result<bool, CheckError> {
        Ok(self.part.execute(Request::verify(0, from, length, fill))?.outcome.is_done())
    }

    /// What a range reads as.
    fn content(&mut self, from: Bytes, length: Bytes) -> Result<Content, CheckError> {
        Ok(self.part.execute(Request::read(0, from, length))?.content)
    }
}

/// A row of a feature that is not claimed.
fn absent(claims: &str) -> Found {
    (claims.to_owned(), Outcome::UnsupportedByPart, "not tried".to_owned())
}
