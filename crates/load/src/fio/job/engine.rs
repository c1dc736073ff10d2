//! Engine, mode and data of a job.

use super::Reader;
use crate::fio::FioError;
use crate::fio::value::{self, KbBase};
use crate::job::{EngineChoice, Job, Mode, Payload, Verify};

impl Reader<'_> {
    pub(super) fn engine(&self, job: &mut Job, note: &mut impl FnMut(String)) -> Result<(), FioError> {
        let name = self.text("ioengine").unwrap_or("psync");
        let mut ours = |choice, how: &str| {
            note(format!("ioengine={name}: {how}"));
            choice
        };
        job.engine = match name {
            "psync" => EngineChoice::Sync,
            "sync" | "pvsync" | "pvsync2" | "vsync" => ours(EngineChoice::Sync, "requests go through pread and pwrite"),
            "io_uring" => EngineChoice::Uring,
            "posixaio" => EngineChoice::Aio,
            "libaio" => ours(EngineChoice::Uring, "requests go through io_uring"),
            "mmap" => EngineChoice::Mmap,
            "null" => EngineChoice::Null,
            _ => {
                let hint = "one of psync, sync, pvsync, pvsync2, vsync, io_uring, libaio, posixaio, mmap, null";
                return Err(self.fail("ioengine", &format!("there is no engine '{name}' here"), Some(hint)));
            }
        };
        let depth = self.count("iodepth")?.unwrap_or(1);
        if !(1..=crate::plan::MOST_DEPTH).contains(&depth) {
            return Err(self.fail("iodepth", "must be from 1 to 4096", None));
        }
        if depth > 1 && matches!(job.engine, EngineChoice::Sync | EngineChoice::Mmap) {
            note(format!("iodepth={depth}: {name} does one request at a time, in fio as here"));
        } else {
            job.queue_depth = depth;
        }
        let batch = self.count("iodepth_batch")?.map(|batch| batch.min(job.queue_depth));
        let low = self.count("iodepth_low")?.filter(|low| *low < job.queue_depth);
        job.batch = match low {
            // fio fills the queue up again once so few are left.
            Some(low) => Some(job.queue_depth - low),
            None => batch,
        };
        job.batch = job.batch.filter(|batch| *batch > 1);
        let reap = self.count("iodepth_batch_complete_min")?;
        job.reap = reap.filter(|reap| *reap > 0).map(|reap| reap.min(job.queue_depth)).filter(|reap| *reap > 1);
        if self.said("iodepth_batch_complete_max").is_some() {
            note("iodepth_batch_complete_max: all that has ended is taken at once".to_owned());
        }
        job.polled = self.truth("hipri", false)?;
        Ok(())
    }

    pub(super) fn mode(&self, job: &mut Job, note: &mut impl FnMut(String)) -> Result<(), FioError> {
        let direct = match self.section.said.iter().rev().find(|said| matches!(said.name, "direct" | "buffered")) {
            Some(said) if said.name == "buffered" => !self.truth("buffered", true)?,
            Some(_) => self.truth("direct", false)?,
            None => false,
        };
        let durable = match self.text("sync").map(str::trim) {
            None | Some("0" | "none") => false,
            Some("1" | "sync" | "dsync") => true,
            Some(_) => return Err(self.fail("sync", "is none, sync or dsync", None)),
        };
        job.mode = match (direct, durable) {
            (true, false) => Mode::Direct,
            (true, true) => Mode::Dsync,
            (false, false) => Mode::Cached,
            (false, true) => Mode::WriteThrough,
        };
        let hint = self.text("fadvise_hint").map(str::trim);
        if !direct && hint.is_some_and(|hint| !matches!(hint, "0" | "none")) {
            note(
                "fadvise_hint: the kernel is told nothing of the order of requests, as with fadvise_hint=0".to_owned(),
            );
        }
        Ok(())
    }

    /// Payload and verification.
    pub(super) fn data(&self, job: &mut Job, note: &mut impl FnMut(String)) -> Result<(), FioError> {
        if self.truth("zero_buffers", false)? {
            job.payload = Payload::Byte(0);
        } else if let Some(text) = self.text("buffer_pattern") {
            let byte = value::number(text, KbBase::Binary).ok().and_then(|number| u8::try_from(number).ok());
            let byte = byte.ok_or_else(|| self.fail("buffer_pattern", "is one byte here, like 0x5a", None))?;
            job.payload = Payload::Byte(byte);
        } else if let Some(percent) = self.number("buffer_compress_percentage")? {
            if percent > 100 {
                return Err(self.fail("buffer_compress_percentage", "is from 0 to 100", None));
            }
            job.payload = Payload::Compressible(percent as f64 / 100.0);
        } else if self.truth("refill_buffers", false)? && job.mix.has_writes() {
            job.payload = Payload::Tagged { generation: 1 };
        }
        let verify = self.text("verify").unwrap_or("0");
        if matches!(verify, "0" | "none" | "null") {
            return Ok(());
        }
        note(format!(
            "verify={verify}: blocks carry our own tags instead (position, generation and incompressible bytes)"
        ));
        let check = self.truth("do_verify", true)?;
        match job.mix.has_writes() {
            true if check => (job.payload, job.verify) = (Payload::Incompressible, Verify::Written),
            true => job.payload = Payload::Tagged { generation: 1 },
            false if check => job.verify = Verify::Generation(1),
            false => {}
        }
        Ok(())
    }
}
