//! What a device claims of itself, held against what was measured.
//!
//! A speed class promises a rate of sequential writes (SD Physical Layer, 4.13: class N and V N are N MB/s, U1 and U3 are
//! 10 and 30), an application class rates of random 4 KiB requests (4.16: A1 1500 reads and 500 writes per second, A2 4000
//! and 2000). The specification's own conditions (host, file system, fill) are those of `bench --preset sd-class`, not of a
//! run of `inspect`: so what is said here is what was reached here.

use crate::answer;
use flashscope_model::finding::PerformanceCell;
use flashscope_model::{Direction, Order, RunRecord};
use flashscope_units::{ByteRate, Bytes, Iops};

/// A claim and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// What is claimed: `class 10, U1`.
    pub claim: String,
    /// What was found: `reaches class 4 here (6.00 MB/s written)`.
    pub result: String,
}

/// A class of sequential writes: its name, and what it promises.
struct Class {
    name: String,
    rate: ByteRate,
}

/// The claims of a device with what was measured of each; none where nothing is claimed.
pub fn judged(run: &RunRecord) -> Vec<Judged> {
    let Some(device) = &run.envelope.device else { return Vec::new() };
    let words: Vec<&str> = device.claims.speed_class.iter().flat_map(|words| words.split(", ")).collect();
    let classes: Vec<Class> = words.iter().filter_map(|word| class(word)).collect();
    let cells = &run.findings.performance;
    let mut judged: Vec<Judged> = speed(&classes, sequential_write(cells)).into_iter().collect();
    judged.extend(words.iter().filter_map(|word| application(word, cells)));
    judged.extend(device.claims.allocation_unit.map(|unit| allocation_unit(unit, run)));
    judged
}

fn class(word: &str) -> Option<Class> {
    let number = |start: &str| word.strip_prefix(start)?.parse::<u32>().ok();
    let promised = match (number("class "), number("U"), number("V")) {
        (Some(class), ..) => class,
        (_, Some(1), _) => 10,
        (_, Some(3), _) => 30,
        (.., Some(class)) => class,
        _ => return None,
    };
    (promised > 0).then(|| Class { name: word.to_owned(), rate: ByteRate(f64::from(promised) * 1e6) })
}

/// The rate of the largest sequential writes, all of the time counted.
fn sequential_write(cells: &[PerformanceCell]) -> Option<ByteRate> {
    largest(cells, Direction::Write, Order::InOrder).map(|cell| cell.mean_rate)
}

/// The cell of the largest block, one request at a time.
pub(crate) fn largest(cells: &[PerformanceCell], direction: Direction, order: Order) -> Option<&PerformanceCell> {
    let of_kind = cells.iter().filter(|cell| (cell.direction, cell.order, cell.queue_depth) == (direction, order, 1));
    of_kind.max_by_key(|cell| cell.block)
}

/// The cell of random 4 KiB requests, one at a time.
pub(crate) fn random_4k(cells: &[PerformanceCell], direction: Direction) -> Option<&PerformanceCell> {
    cells.iter().find(|cell| {
        (cell.direction, cell.order, cell.block, cell.queue_depth) == (direction, Order::Random, Bytes::kib(4), 1)
    })
}

fn speed(classes: &[Class], measured: Option<ByteRate>) -> Option<Judged> {
    let hardest = classes.iter().max_by(|a, b| a.rate.get().total_cmp(&b.rate.get()))?;
    let names: Vec<&str> = classes.iter().map(|class| class.name.as_str()).collect();
    let claim = format!("{} ({:.0} MB/s)", names.join(", "), hardest.rate.get() / 1e6);
    let result = match measured {
        None => "not tested, needs write tests".to_owned(),
        Some(rate) if rate.get() >= hardest.rate.get() => format!("reached here ({rate} written)"),
        Some(rate) => {
            let reached = reached(rate, hardest).map_or("no class".to_owned(), |class| class);
            format!("reaches {reached} here ({rate} written)")
        }
    };
    Some(Judged { claim, result })
}

/// The best class below the one that was claimed that this rate reaches, named as the claimed one is.
fn reached(rate: ByteRate, claimed: &Class) -> Option<String> {
    let family = claimed.name.chars().next();
    let name = |mb: u32| match (family, mb) {
        (Some('V'), 6..) => format!("V{mb}"),
        (Some('U'), 10) => "U1".to_owned(),
        _ => format!("class {mb}"),
    };
    let steps: &[u32] = if family == Some('V') { &[60, 30, 10, 6, 4, 2] } else { &[10, 6, 4, 2] };
    steps.iter().find(|mb| rate.get() >= f64::from(**mb) * 1e6).map(|mb| name(*mb))
}

fn application(word: &str, cells: &[PerformanceCell]) -> Option<Judged> {
    let (reads, writes) = match word {
        "A1" => (1500.0, 500.0),
        "A2" => (4000.0, 2000.0),
        _ => return None,
    };
    let claim = format!("{word} ({reads}/{writes} IOPS)");
    let measured = |direction| random_4k(cells, direction).map(|cell| cell.iops.0);
    let result = match (measured(Direction::Read), measured(Direction::Write)) {
        (Some(read), Some(written)) => {
            let reached = if read >= reads && written >= writes { "reached" } else { "not reached" };
            format!("{reached} here ({}/{})", whole(read), whole(written))
        }
        _ => "not tested, needs write tests".to_owned(),
    };
    Some(Judged { claim, result })
}

/// Requests per second without their unit.
fn whole(iops: f64) -> String {
    crate::Cell::Iops(Iops(iops)).to_string()
}

fn allocation_unit(claimed: Bytes, run: &RunRecord) -> Judged {
    let result = match answer::claimed(&run.findings.geometry.allocation_unit) {
        Some(found) if *found == claimed => "as found".to_owned(),
        Some(found) => format!("found {found}"),
        None => "not confirmed".to_owned(),
    };
    Judged { claim: format!("AU {claimed}"), result }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_held_against_the_rate() {
        let check = |words: &str, mb: f64, expect: &str| {
            let classes: Vec<Class> = words.split(", ").filter_map(class).collect();
            let judged = speed(&classes, Some(ByteRate(mb * 1e6))).map(|judged| judged.result);
            assert_eq!(judged.as_deref(), (!expect.is_empty()).then_some(expect), "{words} at {mb}");
        };
        check("class 10", 6.0, "reaches class 6 here (6.00 MB/s written)");
        check("class 10", 5.99, "reaches class 4 here (5.99 MB/s written)");
        check("class 10", 16.7, "reached here (16.7 MB/s written)");
        check("class 10, U3", 16.7, "reaches U1 here (16.7 MB/s written)");
        check("class 10, U1", 3.9, "reaches class 2 here (3.90 MB/s written)");
        check("class 10, U3, V30, A2", 12.0, "reaches V10 here (12.0 MB/s written)");
        check("class 10, U3, V60", 31.0, "reaches V30 here (31.0 MB/s written)");
        check("class 4", 1.0, "reaches no class here (1.00 MB/s written)");
        check("A1", 20.0, "");
        check("class 0", 20.0, "");
    }

    #[test]
    fn what_was_not_written_was_not_tested() {
        let classes = [class("class 10").unwrap()];
        assert_eq!(speed(&classes, None).unwrap().result, "not tested, needs write tests");
        assert_eq!(application("A1", &[]).unwrap().claim, "A1 (1500/500 IOPS)");
    }
}
