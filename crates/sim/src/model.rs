//! What a model file says: the device as the host sees it, the link, the mapping with its flash, the state it starts
//! in and the noise around it. Every parameter is written out in every file: there are no hidden defaults.

use crate::ageing::AgeingParams;
use crate::au_log::AuLogParams;
use crate::discard::DiscardParams;
use crate::fault::FaultParams;
use crate::memory::{self, ReadAheadParams, ReadBufferParams, WriteBufferParams};
use crate::page_map::PageMapParams;
use crate::range::{BLOCK, CAPACITY, Inner, OPERATION, PART, PAUSE, RATE, Section, ranges};
use crate::text;
use flashscope_units::{Bytes, Nanos};
use serde::{Deserialize, Deserializer, de::Error};

/// A whole model.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Model {
    /// What the model is, in one line.
    pub(crate) title: String,
    pub(crate) device: DeviceSection,
    pub(crate) link: Link,
    pub(crate) mapping: Mapping,
    pub(crate) state: StartState,
    pub(crate) noise: Noise,
    /// What is wrong with it; absent where nothing is.
    #[serde(default)]
    pub(crate) fault: Option<FaultParams>,
    /// Memory that takes writes before the flash does; absent where there is none.
    #[serde(default)]
    pub(crate) write_buffer: Option<WriteBufferParams>,
    /// Memory that keeps what was read last; absent where there is none.
    #[serde(default)]
    pub(crate) read_buffer: Option<ReadBufferParams>,
    /// Reading what was not asked for yet; absent where it does not.
    #[serde(default)]
    pub(crate) read_ahead: Option<ReadAheadParams>,
    /// What discard does; absent where it forgets whatever it covers.
    #[serde(default)]
    pub(crate) discard: Option<DiscardParams>,
    /// What use does to it; absent where it stays as it is.
    #[serde(default)]
    pub(crate) ageing: Option<AgeingParams>,
}

ranges!(Model {
    title,
    device: Inner,
    link: Inner,
    mapping: Inner,
    state: Inner,
    noise: Inner,
    fault: Inner,
    write_buffer: Inner,
    read_buffer: Inner,
    read_ahead: Inner,
    discard: Inner,
    ageing: Inner,
});

/// The device as a host sees it. Its claims are what its registers say, true or not.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeviceSection {
    /// Product name as the device gives it.
    pub(crate) product: String,
    pub(crate) kind: KindName,
    #[serde(deserialize_with = "text::bytes")]
    pub(crate) capacity: Bytes,
    #[serde(deserialize_with = "text::bytes")]
    pub(crate) logical_block: Bytes,
    #[serde(default)]
    pub(crate) claims: ClaimsSection,
}

ranges!(DeviceSection {
    product,
    kind,
    capacity: CAPACITY,
    logical_block: Bytes::SECTOR..=Bytes::kib(64),
    claims: Inner,
});

/// What the device's registers say of its inside.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ClaimsSection {
    #[serde(deserialize_with = "text::optional_bytes")]
    pub(crate) allocation_unit: Option<Bytes>,
    #[serde(deserialize_with = "text::optional_bytes")]
    pub(crate) preferred_erase: Option<Bytes>,
    #[serde(deserialize_with = "text::optional_bytes")]
    pub(crate) erase: Option<Bytes>,
    #[serde(deserialize_with = "text::optional_bytes")]
    pub(crate) physical_block: Option<Bytes>,
    pub(crate) speed_class: Option<String>,
    pub(crate) other: Vec<String>,
}

ranges!(ClaimsSection {
    allocation_unit: PART,
    preferred_erase: PART,
    erase: PART,
    physical_block: PART,
    speed_class,
    other,
});

/// Class of device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum KindName {
    SdCard,
    Emmc,
    Ufs,
    Usb,
    Nvme,
    Scsi,
}

/// The way between host and controller.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Link {
    /// From the host's call to the controller's start, and back: paid once per piece.
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) command: Nanos,
    /// Bytes per second on the wire.
    pub(crate) bytes_per_s: f64,
    /// Larger requests are split into pieces of this size.
    #[serde(deserialize_with = "text::bytes")]
    pub(crate) max_request: Bytes,
    /// Requests that the device takes at once; 1 for a card without a queue.
    pub(crate) queue_depth: u32,
    /// An explicit flush, when there is nothing to make durable.
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) flush: Nanos,
    /// Added to a write that must be durable when it completes.
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) durable_write: Nanos,
}

ranges!(Link {
    command: OPERATION,
    bytes_per_s: RATE,
    max_request: BLOCK,
    queue_depth: 1..=65_536,
    flush: OPERATION,
    durable_write: OPERATION,
});

impl Link {
    /// Time on the wire.
    pub(crate) fn transfer(&self, length: Bytes) -> Nanos {
        // Rounded by hand, as every request asks, and `round` is a call where the processor has no instruction for it; and with
        // signs, as it has some for these only.
        let exact = length.get() as i64 as f64 / self.bytes_per_s * 1e9;
        let whole = exact as i64;
        Nanos(whole as u64 + u64::from(exact - whole as f64 >= 0.5))
    }
}

/// How logical addresses find their flash; each kind brings its own parameters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Mapping {
    /// Unit-mapped with a few open logs: SD cards, eMMC, sticks.
    AuLog(AuLogParams),
    /// Page-mapped: solid-state disks, good phones.
    PageMap(PageMapParams),
}

impl<'de> Deserialize<'de> for Mapping {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Mapping, D::Error> {
        let (kind, rest) = text::kind_and_rest(from)?;
        match kind.as_str() {
            "au-log" => text::section(rest).map(Mapping::AuLog),
            "page-map" => text::section(rest).map(Mapping::PageMap),
            other => Err(D::Error::unknown_variant(other, &["au-log", "page-map"])),
        }
    }
}

impl Section for Mapping {
    fn check(&self, key: &str) -> Result<(), String> {
        match self {
            Mapping::AuLog(params) => params.check(key),
            // Checked with the geometry that follows from it, as drives are also made without a model file.
            Mapping::PageMap(_) => Ok(()),
        }
    }
}

/// The state that a device starts in.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StartState {
    pub(crate) start: Start,
    /// What an erased place reads as: 0x00 or 0xff.
    pub(crate) erased_byte: u8,
}

ranges!(StartState { start, erased_byte: 0..=255 });

/// How a device was used before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Start {
    /// Never written.
    Blank,
    /// The first half written once from start to end, the other never.
    Half,
    /// Written once from start to end.
    Filled,
}

/// Noise between device and clock.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Noise {
    pub(crate) level: NoiseLevel,
    /// A host that is not the same all the time; steady where absent.
    #[serde(default)]
    pub(crate) drift: Option<Drift>,
    /// What the clock tells times in, where it is coarser than the level's.
    #[serde(default, deserialize_with = "text::optional_nanos")]
    pub(crate) clock: Option<Nanos>,
}

ranges!(Noise { level, drift: Inner, clock: OPERATION });

/// What every request loses to the host swings between nothing and `by`, once in each `over`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Drift {
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) by: Nanos,
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) over: Nanos,
}

ranges!(Drift { by: OPERATION, over: PAUSE });

/// How noisy the surroundings are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum NoiseLevel {
    /// Exact times.
    None,
    /// A quiet machine on a desk.
    Bench,
    /// A machine that does other things as well.
    Field,
    /// A busy machine with a coarse clock.
    Harsh,
}

impl Model {
    /// The model of what is really there: a device that lies about its size has less.
    pub(crate) fn genuine(&self) -> Model {
        let mut model = self.clone();
        if let Some(fault) = &self.fault {
            model.device.capacity = fault.medium(self.device.capacity);
        }
        model
    }

    /// Where what was written before the start ends, seen by the host. What one entry of the map stands for is written as a
    /// whole or not at all.
    pub(crate) fn written_until(&self) -> Bytes {
        let capacity = self.device.capacity;
        match (self.state.start, &self.mapping) {
            (Start::Blank, _) => Bytes::ZERO,
            (Start::Filled, _) => capacity,
            (Start::Half, Mapping::AuLog(params)) => {
                (params.hidden + capacity / 2).align_down(params.unit).saturating_sub(params.hidden)
            }
            (Start::Half, Mapping::PageMap(params)) => Bytes(capacity.get() / 2).align_down(params.unit),
        }
    }

    /// Share of the device that was never written before the start, 0…1.
    pub(crate) fn never_written(&self) -> f64 {
        1.0 - self.written_until().as_f64() / self.device.capacity.as_f64()
    }

    /// Says what is out of its range or does not fit together.
    pub(crate) fn validate(&self) -> Result<(), String> {
        self.check("")?;
        let (device, link) = (&self.device, &self.link);
        let block = device.logical_block;
        if !block.get().is_power_of_two() {
            return Err(format!("device.logical_block ({block}) must be a power of two"));
        }
        if !device.capacity.is_multiple_of(block) {
            return Err(format!("device.capacity ({}) must be whole logical blocks", device.capacity));
        }
        if !link.max_request.is_multiple_of(block) {
            return Err(format!("link.max_request ({}) must be whole logical blocks", link.max_request));
        }
        if let Some(fault) = &self.fault {
            fault.validate(self)?;
        }
        memory::validate(self)?;
        match &self.mapping {
            Mapping::AuLog(params) => params.validate(self.genuine().device.capacity),
            Mapping::PageMap(params) => params.validate(self.genuine().device.capacity),
        }
    }
}
