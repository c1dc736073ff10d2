//! Where requests go, and of what size: direction, mix, distribution, sizes.

use super::Reader;
use crate::fio::FioError;
use crate::fio::value::{self, KbBase};
use crate::job::{Job, Mix, Pattern, Sizes, Zones};
use flashscope_units::Bytes;

/// Sizes of a `bsrange` that are told apart at most.
const MOST_SIZES: u64 = 1 << 16;
/// fio's default block.
pub(super) const BLOCK: Bytes = Bytes::kib(4);

impl Reader<'_> {
    /// `8k`, `8k,32k` for reads and writes, `,8k` for writes only; or a range, or sizes with shares.
    pub(super) fn sizes(&self) -> Result<(Sizes, Sizes), FioError> {
        let base = self.base()?;
        let last = |names: [&'static str; 3]| {
            names
                .into_iter()
                .max_by_key(|name| self.section.said.iter().rposition(|said| said.name == *name).map(|at| at + 1))
        };
        let name = last(["bs", "bsrange", "bssplit"]).filter(|name| self.said(name).is_some());
        let Some(name) = name else { return Ok((Sizes::one(BLOCK), Sizes::one(BLOCK))) };
        let one = |text: &str| match name {
            "bs" => value::bytes(text, base).map(Sizes::one),
            "bsrange" => range(text, base),
            _ => split(text, base),
        };
        self.parsed(name, |text| {
            let mut parts = text.split(',').map(str::trim);
            let (read, write, more) = (parts.next().unwrap_or_default(), parts.next(), parts.count());
            if more > 1 {
                return Err("has more than three parts".to_owned());
            }
            let of = |part: &str| if part.is_empty() { Ok(Sizes::one(BLOCK)) } else { one(part) };
            let reads = of(read)?;
            // One size alone holds for both.
            let writes = write.map_or_else(|| Ok(reads.clone()), of)?;
            match [&reads, &writes].iter().any(|sizes| sizes.smallest() == Bytes::ZERO) {
                true => Err("a block has at least 1 byte".to_owned()),
                false => Ok((reads, writes)),
            }
        })
        .map(Option::unwrap_or_default)
    }

    /// What `rw` says; the stride, where it has one.
    pub(super) fn direction(&self, job: &mut Job, note: &mut impl FnMut(String)) -> Result<Option<Bytes>, FioError> {
        let text = self.text("rw").unwrap_or("read");
        let (word, more) = text.split_once(':').map_or((text, None), |(word, more)| (word, Some(more)));
        let random = word.starts_with("rand");
        job.mix = match word {
            "read" | "randread" => Mix::READ,
            "write" | "randwrite" => Mix::WRITE,
            "rw" | "readwrite" | "randrw" => self.mix()?,
            "trim" | "randtrim" | "trimwrite" | "randtrimwrite" => {
                return Err(self.fail("rw", "nothing is discarded here", Some("use fio, or blkdiscard, for it")));
            }
            _ => {
                let hint = "one of read, write, rw, readwrite, randread, randwrite, randrw";
                return Err(self.fail("rw", &format!("there is no '{word}'"), Some(hint)));
            }
        };
        let one_size = single(job);
        job.pattern = match (random, self.truth("norandommap", false)?, one_size) {
            (false, ..) => Pattern::Sequential,
            (true, false, Some(_)) if job.align.is_none_or(|align| Some(align) == one_size) => Pattern::RandomOnce,
            (true, false, _) => {
                note(
                    "places are drawn independently of each other, as blocks of several sizes or alignments overlap"
                        .to_owned(),
                );
                Pattern::Random
            }
            (true, true, _) => Pattern::Random,
        };
        if let Some(percent) = self.number("percentage_random")?
            && percent != if random { 100 } else { 0 }
        {
            return Err(self.fail("percentage_random", "requests are all sequential or all random here", None));
        }
        match more {
            None => Ok(None),
            Some(_) if random => Err(self.fail("rw", "places are drawn anew for each request here", None)),
            Some(more) => self.stride(job, more).map(Some),
        }
    }

    /// `rw=read:4k` leaves 4 KiB out after every request; `rw=read:-8k` goes backwards with 4 KiB blocks.
    pub(super) fn stride(&self, job: &mut Job, more: &str) -> Result<Bytes, FioError> {
        let base = self.base()?;
        let Some(block) = single(job) else {
            return Err(self.fail("rw", "leaving out between requests needs one block size", None));
        };
        let (back, text) = more.strip_prefix('-').map_or((false, more), |text| (true, text));
        let add = value::bytes(text, base).map_err(|what| self.fail("rw", &what, None))?;
        if back && add == block * 2 {
            job.pattern = Pattern::Backward;
            return Ok(block);
        }
        if back || job.mix.has_reads() && job.mix.has_writes() {
            let hint = "backwards goes by whole blocks: rw=read:-8k with bs=4k";
            return Err(self.fail("rw", "there is no such pattern of requests here", Some(hint)));
        }
        let stride = block + add;
        job.pattern = if add == Bytes::ZERO { Pattern::Sequential } else { Pattern::Skipping { stride } };
        Ok(stride)
    }

    pub(super) fn mix(&self) -> Result<Mix, FioError> {
        let last = self.section.said.iter().rev().find(|said| matches!(said.name, "rwmixread" | "rwmixwrite"));
        let Some(said) = last else { return Ok(Mix { reads: 0.5 }) };
        let percent = self.number(said.name)?.filter(|percent| *percent <= 100);
        let percent = percent.ok_or_else(|| self.fail(said.name, "is from 0 to 100", None))? as f64 / 100.0;
        Ok(Mix { reads: if said.name == "rwmixread" { percent } else { 1.0 - percent } })
    }

    pub(super) fn distribution(&self, job: &mut Job) -> Result<(), FioError> {
        let Some(text) = self.text("random_distribution") else { return Ok(()) };
        if !job.pattern.is_random() {
            return Ok(());
        }
        let refused = |what: &str| {
            self.fail("random_distribution", what, Some("one of random, zipf:THETA, pareto:H, zoned:REQUESTS/SPAN:…"))
        };
        let (word, more) = text.split_once(':').unwrap_or((text, ""));
        job.pattern = match word {
            "random" if more.is_empty() => return Ok(()),
            "zipf" => {
                let theta = if more.is_empty() { Ok(1.1) } else { value::real(more) };
                Pattern::Zipf { theta: theta.map_err(|what| refused(&what))? }
            }
            "pareto" => {
                let h = if more.is_empty() { Ok(0.2) } else { value::real(more) };
                Pattern::Pareto { h: h.map_err(|what| refused(&what))? }
            }
            // Zones of writes may differ in fio; they are one flow of requests here.
            "zoned" if more.contains(',') => return Err(refused("reads and writes have the same zones here")),
            "zoned" => Pattern::Zoned(zones(more).map_err(|what| refused(&what))?),
            _ => return Err(refused(&format!("there is no '{text}' here"))),
        };
        Ok(())
    }
}

/// The one block size of a job.
pub(super) fn single(job: &Job) -> Option<Bytes> {
    let used = [job.mix.has_reads().then_some(&job.read_sizes), job.mix.has_writes().then_some(&job.write_sizes)];
    let mut sizes = used.into_iter().flatten().flat_map(|sizes| &sizes.0).map(|(size, _)| *size);
    let first = sizes.next()?;
    sizes.all(|size| size == first).then_some(first)
}

/// `4k-16k`: all multiples of the smallest, each as often.
fn range(text: &str, base: KbBase) -> Result<Sizes, String> {
    let (low, high) = text.split_once(['-', ':']).ok_or_else(|| format!("'{text}' is no range, like 4k-16k"))?;
    let (low, high) = (value::bytes(low, base)?, value::bytes(high, base)?);
    let (low, high) = (low.min(high), low.max(high));
    if low == Bytes::ZERO {
        return Err("a block has at least 1 byte".to_owned());
    }
    if high / low > MOST_SIZES {
        return Err(format!("more than {MOST_SIZES} sizes"));
    }
    Ok(Sizes((1..=high / low).map(|times| (low * times, 1)).collect()))
}

/// `4k/50:64k/50`: sizes with percentages; those without share what is left.
fn split(text: &str, base: KbBase) -> Result<Sizes, String> {
    let one = |part: &str| {
        let (size, percent) = part.split_once('/').unwrap_or((part, ""));
        let percent = match percent.trim() {
            "" => None,
            percent => Some(percent.parse::<u32>().map_err(|_| format!("'{percent}' is no percentage"))?),
        };
        Ok::<_, String>((value::bytes(size, base)?, percent))
    };
    let parts: Vec<(Bytes, Option<u32>)> = text.split(':').map(one).collect::<Result<_, _>>()?;
    let told: u64 = parts.iter().filter_map(|(_, percent)| *percent).map(u64::from).sum();
    if told > 100 {
        return Err("the percentages add up to more than 100".to_owned());
    }
    let open = parts.iter().filter(|(_, percent)| percent.is_none()).count() as u64;
    // In parts of all weights, so that a rest that does not divide evenly is still shared evenly.
    let scale = open.max(1) as u32;
    let rest = 100 - told as u32;
    let last = parts.len() - 1;
    let weight = |index: usize, percent: Option<u32>| match percent {
        None => rest,
        // What nobody claims goes to the last one.
        Some(percent) if open == 0 && index == last => (percent + rest) * scale,
        Some(percent) => percent * scale,
    };
    Ok(Sizes(parts.iter().enumerate().map(|(index, (size, percent))| (*size, weight(index, *percent))).collect()))
}

/// `50/5:30/15:20/`: shares of the requests and of the span; zones without one share what is left of the span.
fn zones(text: &str) -> Result<Zones, String> {
    let zone = |part: &str| {
        let (requests, span) = part.split_once('/').ok_or_else(|| format!("'{part}' is no zone, like 90/10"))?;
        let span = if span.trim().is_empty() { None } else { Some(value::real(span)? / 100.0) };
        Ok::<_, String>((value::real(requests)? / 100.0, span))
    };
    let told: Vec<(f64, Option<f64>)> = text.split(':').map(zone).collect::<Result<_, _>>()?;
    let open = told.iter().filter(|(_, span)| span.is_none()).count().max(1);
    let rest = (1.0 - told.iter().filter_map(|(_, span)| *span).sum::<f64>()) / open as f64;
    let shares: Vec<(f64, f64)> = told.iter().map(|(requests, span)| (*requests, span.unwrap_or(rest))).collect();
    Zones::new(&shares).ok_or_else(|| format!("at most {} zones, whose shares add up to 100 % each", Zones::MOST))
}
