//! The kernel's tracing of a device, whose events are taken over as they come.

use crate::error::Failure;
use crate::{output, target};
use anyhow::anyhow;
use flashscope_host::{BlockTrace, HostError, MonotonicClock, Traceable, clean_block_traces};
use flashscope_trace::TraceError;
use flashscope_trace::event::{Event, Paired, Pairing};
use flashscope_trace::kernel::{Layouts, OF_BIOS, OF_REQUESTS};
use flashscope_units::{Instant, Nanos};

/// How often events are to be fetched. With 8 MiB of room for each processor that is some 3 million requests per second.
pub(crate) const EVERY: Nanos = Nanos::millis(20);
/// How long an event may take from its time to the page that it stands on: what is older is there.
const MARGIN: Nanos = Nanos::millis(100);

/// Removes what killed recordings left switched on, and says so; whether there was any.
pub(crate) fn clean() -> Result<bool, Failure> {
    let left = clean_block_traces().map_err(target::failure)?;
    for path in &left {
        output::talk(&format!("removed what a killed recording had left switched on: {}", path.display()));
    }
    Ok(!left.is_empty())
}

/// A device that is being recorded. Dropping this ends it.
pub(crate) struct Recording {
    tracing: BlockTrace,
    layouts: Layouts,
    waiting: Vec<Event>,
    pairing: Pairing,
    clock: MonotonicClock,
}

/// Why a recording cannot go on.
enum Trouble {
    Host(HostError),
    Trace(TraceError),
}

impl From<HostError> for Trouble {
    fn from(error: HostError) -> Trouble {
        Trouble::Host(error)
    }
}

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Failure {
        match trouble {
            Trouble::Host(error) => target::failure(error),
            Trouble::Trace(error) => Failure::Cannot(anyhow!("{error}")),
        }
    }
}

impl Recording {
    /// Begins, with room for `buffer` bytes of events per processor.
    ///
    /// # Errors
    /// No right to, or a kernel that does not trace.
    pub(crate) fn start(traced: &Traceable, buffer: u64) -> Result<Recording, Failure> {
        let wanted: &[_] = if traced.queued { &OF_REQUESTS } else { &OF_BIOS };
        let names: Vec<&str> = wanted.iter().map(|(name, _)| *name).collect();
        let tracing = BlockTrace::start(traced.number, &names, buffer).map_err(target::failure)?;
        let mut layouts =
            Layouts::new(&tracing.text("events/header_page").map_err(Trouble::Host)?).map_err(Trouble::Trace)?;
        for (name, step) in wanted {
            let format = tracing.text(&format!("events/block/{name}/format")).map_err(Trouble::Host)?;
            layouts.add(name, *step, &format).map_err(Trouble::Trace)?;
        }
        let (waiting, pairing, clock) = (Vec::new(), Pairing::default(), MonotonicClock::start());
        Ok(Recording { tracing, layouts, waiting, pairing, clock })
    }

    /// What is to be done where the program has to end at once.
    pub(crate) fn remover(&self) -> impl FnOnce() + Send + 'static {
        self.tracing.remover()
    }

    /// Takes over what there is.
    ///
    /// # Errors
    /// The kernel gives what is not understood.
    pub(crate) fn fetch(&mut self) -> Result<(), Failure> {
        let old = self.clock.monotonic(self.clock.now()).0.saturating_sub(MARGIN.get());
        self.take()?;
        self.settle(Instant(old));
        Ok(())
    }

    /// Ends it, once requests in flight have ended as they would: all requests, and how many events had no room.
    ///
    /// # Errors
    /// As of [`Recording::fetch`].
    pub(crate) fn finish(mut self) -> Result<(Paired, u64), Failure> {
        self.clock.sleep_until(self.clock.now() + MARGIN);
        self.tracing.pause().map_err(Trouble::Host)?;
        self.take()?;
        self.settle(Instant(u64::MAX));
        let dropped = self.tracing.dropped().map_err(Trouble::Host)?;
        Ok((self.pairing.finish(), dropped))
    }

    /// Takes all events that the kernel has.
    fn take(&mut self) -> Result<(), Trouble> {
        let (layouts, waiting) = (&self.layouts, &mut self.waiting);
        self.tracing.read(|page| layouts.events(page, |event| waiting.push(event)).map_err(Trouble::Trace)).map(drop)
    }

    /// Pairs what is old enough that nothing older can come, in order of time over all processors.
    fn settle(&mut self, old: Instant) {
        self.waiting.sort_by_key(|event| event.at);
        let settled = self.waiting.partition_point(|event| event.at <= old);
        self.waiting.drain(..settled).for_each(|event| self.pairing.add(&event));
    }
}
