//! Run times of apps, predicted by a twin that was fitted to nothing but the record of an `inspect`, beside the time that the
//! device itself takes and beside a naive reader of the same record.

mod apps;

pub use apps::{App, apps};

use crate::inspected::{record, record_for_twin};
use flashscope_explain::{Workload, time};
use flashscope_fleet::{Generator, Noise, draw};
use flashscope_model::observation::Observations;
use flashscope_model::{Data, Direction, Order};
use flashscope_stats::location::median;
use flashscope_trace::Op;
use flashscope_twin::{Measured, Part, Trust, Unattended, fit_model};

/// A prediction is good within this share of what the device takes.
pub const WITHIN: f64 = 0.2;
/// Larger drives take minutes each in a development build, and nothing here depends on their size.
const LARGEST_DRIVE_GIB: u64 = 64;

/// How a device maps its addresses, as the model file says; only what draws devices may ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// By units with logs.
    Card,
    /// By page.
    Drive,
}

/// One app on one device.
#[derive(Clone, Debug)]
pub struct Predicted {
    /// The app's name.
    pub app: &'static str,
    /// What the device takes, in nanoseconds.
    pub real: f64,
    /// What its twin takes.
    pub twin: f64,
    /// What a reader says who divides bytes by sequential rates; absent where the record has none.
    pub naive: Option<f64>,
}

/// A device and all that was predicted of it.
#[derive(Clone, Debug)]
pub struct Device {
    /// Number of the device in its fleet.
    pub index: u32,
    /// Its model file.
    pub model: String,
    /// Its twin's; absent where nothing could be fitted, and then why.
    pub twin: Result<String, String>,
    /// Whether the twin says itself that run times may be predicted with it; nothing held out says no.
    pub trusted: bool,
    /// Every app that the device holds out.
    pub apps: Vec<Predicted>,
}

/// The model file of device `index` of a fleet, where it is of this kind.
pub fn drawn(kind: Kind, seed: u64, index: u32) -> Option<String> {
    let text = draw(Generator::Wide, seed, index, Some(Noise::Bench)).ok()?.text;
    let target = flashscope_sim::open_with("m.toml", 1, |_| Ok(text.clone())).ok()?;
    let capacity = flashscope_device::Target::facts(&target).capacity;
    let is_drive = text.contains("kind = \"page-map\"");
    let wanted = match kind {
        Kind::Card => !is_drive,
        Kind::Drive => is_drive && capacity <= flashscope_units::Bytes::gib(LARGEST_DRIVE_GIB),
    };
    // A device with a fault ends early or lies about its size: neither has a run time to predict.
    (wanted && capacity >= apps::SPAN && !text.contains("[fault")).then_some(text)
}

/// What a twin says of a device, which is known by its record only, and what the device says.
pub fn predict(model: &str, index: u32, seed: u64, (apps, for_twin): (&[App], bool)) -> Device {
    let record = if for_twin { record_for_twin } else { record }(model, seed);
    let rates = rates(&record.observations);
    let fitted = Measured::of(vec![Part::of_record("record".to_owned(), record)])
        .and_then(|measured| fit_model(&measured, "twin", &mut Unattended));
    let trusted = fitted.as_ref().is_ok_and(|model| model.trust.as_ref().is_some_and(Trust::holds));
    let twin = fitted.map(|model| model.text).map_err(|error| error.to_string());
    let of_app = |app: &App| {
        let real = time(model, seed, &app.workload)?;
        let twin = twin.as_ref().ok().and_then(|twin| time(twin, seed, &app.workload)).unwrap_or(f64::NAN);
        let naive = rates.map(|rates| naive(&app.workload, rates));
        Some(Predicted { app: app.name, real, twin, naive })
    };
    let apps = apps.iter().filter_map(of_app).collect();
    Device { index, model: model.to_owned(), twin, trusted, apps }
}

impl Predicted {
    /// Whether the twin's time is near enough.
    pub fn is_near(&self) -> bool {
        near(self.twin, self.real)
    }

    /// Whether the naive reader's is.
    pub fn naive_is_near(&self) -> bool {
        self.naive.is_some_and(|naive| near(naive, self.real))
    }
}

fn near(said: f64, real: f64) -> bool {
    (said / real - 1.0).abs() <= WITHIN
}

/// Sequential rates of reading and writing, in bytes per nanosecond.
fn rates(observations: &Observations) -> Option<(f64, f64)> {
    let of = |direction: Direction| {
        let rates = observations.runs.iter().filter_map(|run| match &run.data {
            Data::Throughput(data) if data.direction == direction && data.order == Order::InOrder => {
                let times: Vec<f64> = data.times.iter().map(|time| time.as_f64()).collect();
                Some(data.block.as_f64() / median(&times)?)
            }
            _ => None,
        });
        rates.max_by(f64::total_cmp)
    };
    Some((of(Direction::Read)?, of(Direction::Write)?))
}

/// Bytes over sequential rates, and the pauses that the app makes itself.
fn naive(workload: &Workload, (read, write): (f64, f64)) -> f64 {
    let mut sum = 0.0;
    let mut ended = 0;
    for request in &workload.requests {
        sum += request.issued.0.saturating_sub(ended) as f64;
        ended = ended.max(request.completed.unwrap_or(request.issued).0);
        sum += match request.op {
            Op::Read => f64::from(request.length) / read,
            Op::Write => f64::from(request.length) / write,
            _ => 0.0,
        };
    }
    sum
}
