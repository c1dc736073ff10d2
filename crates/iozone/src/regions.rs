//! What the matrix shows: up to which file size memory answers, from which on the device does, and where the speed falls.
//!
//! Whose speed it is, is decided by the evidence of each pass alone. The speed is looked at by itself, so that a fall without a
//! change of sides (the processor's cache) is told from the place where the file outgrows the page cache.

use flashscope_model::bench::CacheVerdict;
use flashscope_model::iozone::{Cliff, Fall, Figure, Pass, Regions, Whose};
use flashscope_stats::levels::{LevelSettings, Levels, find_levels};
use flashscope_stats::location::median;
use flashscope_units::{ByteRate, Bytes};
use std::collections::BTreeMap;

/// A fall by less is none that anybody looks for.
const LEAST_RATIO: f64 = 1.5;
/// A fall that is less probable is not spoken of.
const LEAST_PROBABILITY: f64 = 0.8;

/// One entry per figure that has passes, in the order of the figures.
pub fn regions(figures: &[Figure], passes: &[Pass]) -> Vec<Regions> {
    let of = |figure: Figure| passes.iter().filter(move |pass| pass.figure == figure).collect::<Vec<_>>();
    figures.iter().map(|&figure| (figure, of(figure))).filter(|(_, mine)| !mine.is_empty()).map(of_figure).collect()
}

fn of_figure((figure, passes): (Figure, Vec<&Pass>)) -> Regions {
    let mut by_size: BTreeMap<Bytes, Vec<&Pass>> = BTreeMap::new();
    for pass in &passes {
        by_size.entry(pass.file).or_default().push(pass);
    }
    let sizes: Vec<(Bytes, Whose)> = by_size.iter().map(|(size, passes)| (*size, whose(passes))).collect();
    let groups = comparable(&by_size);
    let relative = relative(&groups);
    let falls = falls(&sizes, &groups);
    let cliff = cliff(&sizes, &by_size, &falls);
    let sentence = sentence(&sizes, &falls, cliff.as_ref());
    Regions { figure, sizes, relative, falls, cliff, sentence }
}

/// All passes over files of one size together. One that nobody can tell of does not speak for the others.
fn whose(passes: &[&Pass]) -> Whose {
    let known = |wanted| passes.iter().any(|pass| pass.evidence.verdict == wanted);
    match (known(CacheVerdict::Cache), known(CacheVerdict::Mixed), known(CacheVerdict::Device)) {
        (false, false, false) => Whose::Unknown,
        (true, false, false) => Whose::Memory,
        (false, false, true) => Whose::Device,
        _ => Whose::Mixed,
    }
}

/// Logarithms of the speeds of each file size, with what the record size does to it taken out: a table of two factors
/// whose column effects are found by median polish (Tukey, "Exploratory Data Analysis", 1977).
fn comparable(by_size: &BTreeMap<Bytes, Vec<&Pass>>) -> Vec<Vec<f64>> {
    let mut rows: Vec<Vec<(Bytes, f64)>> = by_size
        .values()
        .map(|passes| {
            let rate = |pass: &&Pass| Some((pass.record, pass.rate()?.get().ln()));
            passes.iter().filter_map(rate).filter(|(_, log)| log.is_finite()).collect()
        })
        .collect();
    let mut levels = vec![0.0; rows.len()];
    for _ in 0..POLISHES {
        for (row, level) in rows.iter_mut().zip(&mut levels) {
            let middle = median(&row.iter().map(|(_, log)| *log).collect::<Vec<_>>()).unwrap_or(0.0);
            row.iter_mut().for_each(|(_, log)| *log -= middle);
            *level += middle;
        }
        let mut columns: BTreeMap<Bytes, Vec<f64>> = BTreeMap::new();
        for (record, log) in rows.iter().flatten() {
            columns.entry(*record).or_default().push(*log);
        }
        let middles: BTreeMap<Bytes, f64> =
            columns.into_iter().map(|(record, logs)| (record, median(&logs).unwrap_or(0.0))).collect();
        for (record, log) in rows.iter_mut().flatten() {
            *log -= middles[record];
        }
    }
    let back = |(row, level): (Vec<(Bytes, f64)>, f64)| row.into_iter().map(|(_, rest)| rest + level).collect();
    rows.into_iter().zip(levels).map(back).collect()
}

/// Enough for tables of any size to settle.
const POLISHES: u32 = 10;

fn relative(groups: &[Vec<f64>]) -> Vec<Option<f64>> {
    let middles: Vec<Option<f64>> = groups.iter().map(|group| median(group)).collect();
    let best = middles.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
    middles.into_iter().map(|middle| middle.map(|middle| (middle - best).exp())).collect()
}

/// Steps down between neighbouring levels, largest first.
fn falls(sizes: &[(Bytes, Whose)], groups: &[Vec<f64>]) -> Vec<Fall> {
    let (sizes, groups): (Vec<Bytes>, Vec<&Vec<f64>>) = sizes
        .iter()
        .zip(groups)
        .filter(|(_, group)| !group.is_empty())
        .map(|((size, _), group)| (*size, group))
        .unzip();
    if sizes.len() < 2 {
        return Vec::new();
    }
    let settings = LevelSettings {
        max_levels: 4.min(sizes.len()),
        prior_odds: 0.3,
        min_groups: 1,
        confidence: 0.95,
        // Speeds of a single pass repeat to some per cent at best.
        noise_floor: 0.03,
        outlier_probability: 0.02,
        scatter: vec![0.0, 0.05, 0.15, 0.3],
    };
    let Ok(found) = find_levels(&groups, &settings) else { return Vec::new() };
    let mut falls = steps_down(&sizes, &found);
    falls.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
    falls
}

fn steps_down(sizes: &[Bytes], found: &Levels) -> Vec<Fall> {
    let step = |pair: &[flashscope_stats::levels::Level]| {
        let at = pair[1].groups.start;
        let ratio = (pair[0].location - pair[1].location).exp();
        let probability = found.start_probability.get(at).copied()?;
        let fall = Fall { above: sizes[at - 1], below: sizes[at], ratio, probability };
        (ratio >= LEAST_RATIO && probability >= LEAST_PROBABILITY).then_some(fall)
    };
    found.levels.windows(2).filter_map(step).collect()
}

/// The counters change sides once: memory's sizes first, then those in which the device had a part.
fn cliff(sizes: &[(Bytes, Whose)], by_size: &BTreeMap<Bytes, Vec<&Pass>>, falls: &[Fall]) -> Option<Cliff> {
    let known: Vec<(Bytes, Whose)> = sizes.iter().copied().filter(|(_, whose)| *whose != Whose::Unknown).collect();
    let first = known.iter().position(|(_, whose)| *whose != Whose::Memory).filter(|first| *first > 0)?;
    if known[first..].iter().any(|(_, whose)| *whose == Whose::Memory) {
        return None;
    }
    let (memory_up_to, device_from) = (known[first - 1].0, known[first].0);
    let side = |memory: bool| {
        let rates: Vec<f64> = by_size
            .iter()
            .filter(|(size, _)| if memory { **size <= memory_up_to } else { **size >= device_from })
            .flat_map(|(_, passes)| passes.iter().filter_map(|pass| pass.rate()).map(ByteRate::get))
            .collect();
        median(&rates).map(ByteRate)
    };
    // Where part of the file still fits, the fall may come one size later.
    let near = |fall: &Fall| fall.below >= memory_up_to && fall.above <= device_from;
    let speed_falls = falls.iter().any(near);
    Some(Cliff { memory_up_to, device_from, rates: (side(true)?, side(false)?), speed_falls })
}

fn sentence(sizes: &[(Bytes, Whose)], falls: &[Fall], cliff: Option<&Cliff>) -> String {
    let (Some((smallest, _)), Some((largest, _))) = (sizes.first(), sizes.last()) else { return String::new() };
    let all = |wanted: Whose| sizes.iter().all(|(_, whose)| *whose == wanted);
    let fall = falls.first().map(|fall| {
        let Fall { above, below, ratio, .. } = fall;
        format!("; the speed falls to 1/{ratio:.1} from {above} to {below}")
    });
    let fall = || fall.clone().unwrap_or_default();
    if let Some(cliff) = cliff {
        let (memory, device) = cliff.rates;
        let speed = match cliff.speed_falls {
            true => format!("the speed falls there as well, from {memory} to {device} (medians)"),
            false => format!("the speed does not fall right there ({memory} and {device}, medians){}", fall()),
        };
        let part = sizes.iter().any(|(size, whose)| *size == cliff.device_from && *whose == Whose::Mixed);
        let device = if part { "the device has a part" } else { "the device" };
        return format!(
            "memory up to {}, {device} from {}, as the counters say: {speed}",
            cliff.memory_up_to, cliff.device_from
        );
    }
    if all(Whose::Memory) {
        let within = if falls.is_empty() {
            String::new()
        } else {
            format!("{}, within memory (the processor's caches)", fall())
        };
        return format!(
            "memory throughout, up to {largest}{within}: files larger than the memory (-g) would show the device"
        );
    }
    if all(Whose::Device) {
        let sizes = if smallest == largest { format!("at {largest}") } else { format!("from {smallest} to {largest}") };
        return format!("the device throughout, {sizes}{}", fall());
    }
    if all(Whose::Unknown) {
        return format!("whose speed this is cannot be told: nobody counts what the device moves{}", fall());
    }
    if all(Whose::Mixed) {
        return format!("memory and the device together throughout{}", fall());
    }
    format!("memory and the device by turns, without one place where they change{}", fall())
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_model::bench::Evidence;
    use flashscope_units::Nanos;

    /// A table in which `rate` says how fast (MB/s) a cell is and whose it is.
    fn table(largest: u32, rate: impl Fn(u64, u64) -> (f64, CacheVerdict)) -> Vec<Pass> {
        let mut passes = Vec::new();
        for file in (6..largest).map(|order| 1u64 << order) {
            for record in (2..15).map(|order| 1u64 << order).filter(|record| *record <= file) {
                let (rate, verdict) = rate(file, record);
                let moved = Bytes::kib(file);
                passes.push(Pass {
                    figure: Figure::Read,
                    file: moved,
                    record: Bytes::kib(record),
                    records: file / record,
                    moved,
                    elapsed: Nanos((moved.as_f64() / rate * 1e3) as u64),
                    mismatched: 0,
                    failure: None,
                    evidence: Evidence { verdict, device_share: None, why: String::new(), counters: vec![] },
                });
            }
        }
        passes
    }

    /// Long records are faster, and nothing repeats to better than a few per cent.
    fn shaped(file: u64, record: u64, level: f64) -> f64 {
        let jitter = 1.0 + 0.06 * ((file * 31 + record * 17) as f64).sin();
        level * (1.0 + (record as f64).log2() / 8.0) * jitter
    }

    fn found(passes: &[Pass]) -> Regions {
        regions(&[Figure::Write, Figure::Read], passes).pop().unwrap()
    }

    #[test]
    fn the_cliff_is_where_the_counters_change_sides() {
        let passes = table(20, |file, record| match file {
            file if file > 1 << 17 => (shaped(file, record, 90.0), CacheVerdict::Device),
            _ => (shaped(file, record, 3000.0), CacheVerdict::Cache),
        });
        let found = found(&passes);
        let cliff = found.cliff.unwrap();
        assert_eq!((cliff.memory_up_to, cliff.device_from), (Bytes::mib(128), Bytes::mib(256)));
        assert!(cliff.speed_falls, "{found:?}");
        assert_eq!(found.falls.len(), 1);
        assert!((25.0..45.0).contains(&found.falls[0].ratio), "{:?}", found.falls);
        assert!(found.relative[0].unwrap() > 0.8 && found.relative.last().unwrap().unwrap() < 0.05);
        assert!(found.sentence.contains("memory up to 128 MiB, the device from 256 MiB"), "{}", found.sentence);
    }

    #[test]
    fn a_fall_alone_is_no_cliff() {
        // The processor's cache: the speed falls, and all of it is memory.
        let passes = table(17, |file, record| {
            let level = if file > 1 << 11 { 4000.0 } else { 12000.0 };
            (shaped(file, record, level), CacheVerdict::Cache)
        });
        let found = found(&passes);
        assert_eq!(found.cliff, None);
        assert_eq!((found.falls[0].above, found.falls[0].below), (Bytes::mib(2), Bytes::mib(4)));
        assert!(
            found.sentence.contains("memory throughout") && found.sentence.contains("processor"),
            "{}",
            found.sentence
        );
    }

    #[test]
    fn counters_alone_are_a_cliff_and_the_speed_is_said_apart() {
        let passes = table(17, |file, record| {
            let verdict = if file > 1 << 14 { CacheVerdict::Device } else { CacheVerdict::Cache };
            (shaped(file, record, 500.0), verdict)
        });
        let found = found(&passes);
        assert!(!found.cliff.unwrap().speed_falls);
        assert!(found.falls.is_empty());
        assert!(found.sentence.contains("does not fall"), "{}", found.sentence);
    }

    #[test]
    fn what_cannot_be_told_is_not() {
        let check = |verdict: fn(u64) -> CacheVerdict, words: &str| {
            let found = found(&table(14, |file, record| (shaped(file, record, 500.0), verdict(file))));
            assert_eq!(found.cliff, None);
            assert!(found.sentence.contains(words), "{}", found.sentence);
        };
        check(|_| CacheVerdict::Unknown, "cannot be told");
        check(|_| CacheVerdict::Device, "the device throughout");
        check(|_| CacheVerdict::Mixed, "together");
        check(
            |file| if file.trailing_zeros() % 2 == 0 { CacheVerdict::Cache } else { CacheVerdict::Device },
            "by turns",
        );
        assert!(regions(&[Figure::Read], &[]).is_empty());
    }

    #[test]
    fn one_record_size_is_enough() {
        let passes: Vec<Pass> = table(20, |file, record| match file {
            file if file > 1 << 17 => (shaped(file, record, 90.0), CacheVerdict::Device),
            _ => (shaped(file, record, 3000.0), CacheVerdict::Cache),
        })
        .into_iter()
        .filter(|pass| pass.record == Bytes::kib(64))
        .collect();
        assert!(found(&passes).cliff.unwrap().speed_falls);
    }
}
