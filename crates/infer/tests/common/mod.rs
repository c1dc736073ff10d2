//! Reads the tables of the published logs, no more than these tests need: the real reader is another crate's business.

#[allow(dead_code)]
pub(crate) mod card;
#[allow(dead_code)]
pub(crate) mod synthetic;

use flashscope_model::observation::*;
use flashscope_model::{Data, Direction, Order};
use flashscope_units::{ByteRate, Bytes, Contrast};

/// The text of a fixture below `fixtures/`.
pub(crate) fn fixture(path: &str) -> String {
    let path = format!("{}/../../fixtures/{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// One finished run of a log.
pub(crate) fn run(data: Data) -> Run {
    Run {
        source: Source::Log { first_line: 1, last_line: 1 },
        state: AreaState::Unknown,
        complete: true,
        spent: Spent::default(),
        failures: Vec::new(),
        data,
    }
}

/// A printed throughput.
pub(crate) fn printed_rate(bytes_per_s: f64, quantum: f64) -> RateEvidence {
    RateEvidence::Printed(Printed {
        value: ByteRate(bytes_per_s),
        quantum: ByteRate(quantum),
        statistic: Statistic::Throughput,
        places: None,
        tries: None,
    })
}

#[derive(Clone, Copy)]
enum Table {
    None,
    OpenUnits(Order, u32),
    Fat,
    Program,
}

/// All tables of throughput, interval and write-align rows of a log.
pub(crate) fn observations(text: &str) -> Observations {
    let mut runs: Vec<Data> = Vec::new();
    let mut table = Table::None;
    for line in text.lines() {
        if let Some(next) = header(line) {
            table = next;
            runs.push(match next {
                Table::OpenUnits(order, count) => {
                    let rows = Vec::new();
                    Data::OpenUnits(OpenUnitsData { order, count: Some(count), unit: None, units: Vec::new(), rows })
                }
                Table::Fat => Data::Fat(FatData { order: None, unit: None, offset: None, rows: Vec::new() }),
                _ => Data::Program(ProgramData { offset: None, region: None, rows: Vec::new() }),
            });
        } else if let Some((block, rates)) = rates(line) {
            match (table, runs.last_mut()) {
                (Table::OpenUnits(..), Some(Data::OpenUnits(data))) => {
                    data.rows.push(OpenUnitsRow { block, rate: rates[0].clone() });
                }
                (Table::Fat, Some(Data::Fat(data))) => data.rows.push(FatRow { block, units: rates }),
                (Table::Program, Some(Data::Program(data))) => data.rows.push(ProgramRow { block, columns: rates }),
                _ => {}
            }
        } else if line.contains("flashbench") {
            table = Table::None;
        } else if let Some(row) = interval(line) {
            if !matches!(runs.last(), Some(Data::Interval(_))) {
                runs.push(Data::Interval(IntervalData { rows: Vec::new() }));
            }
            if let Some(Data::Interval(data)) = runs.last_mut() {
                data.rows.push(row);
            }
        }
    }
    runs.extend(write_align(text));
    Observations { capacity: None, runs: runs.into_iter().map(run).collect(), ..Observations::default() }
}

fn header(line: &str) -> Option<Table> {
    let order = |random| if random { Order::Random } else { Order::InOrder };
    if let Some(rest) = line.strip_prefix("======= AU=") {
        let count = rest.split(',').next()?.parse().ok()?;
        return Some(Table::OpenUnits(order(rest.contains("random")), count));
    }
    if let Some(at) = line.find("open-au-nr=") {
        let count = line[at + 11..].split_whitespace().next()?.parse().ok()?;
        return Some(Table::OpenUnits(order(line.contains(" -r ")), count));
    }
    if line.starts_with("======= find FAT") || (line.contains("flashbench") && line.contains(" -f ")) {
        return Some(Table::Fat);
    }
    (line.contains("flashbench -p")).then_some(Table::Program)
}

fn rates(line: &str) -> Option<(Bytes, Vec<RateEvidence>)> {
    let mut fields = line.split_whitespace();
    let block: Bytes = fields.next()?.parse().ok()?;
    let rates: Vec<RateEvidence> = fields.map_while(rate).collect();
    (!rates.is_empty()).then_some((block, rates))
}

fn rate(field: &str) -> Option<RateEvidence> {
    let number = field.strip_suffix("/s")?;
    let (digits, factor) = match number.as_bytes().last()? {
        b'K' => (&number[..number.len() - 1], 1e3),
        b'M' => (&number[..number.len() - 1], 1e6),
        _ => (number, 1.0),
    };
    Some(printed_rate(digits.parse::<f64>().ok()? * factor, factor * 0.01))
}

fn contrast(field: &str) -> Option<Printed<Contrast>> {
    let end = field.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '-')?;
    let factor = match &field[end..] {
        "ms" => 1e6,
        "us" | "µs" => 1e3,
        "ns" => 1.0,
        _ => return None,
    };
    let value = Contrast(field[..end].parse::<f64>().ok()? * factor);
    let quantum = Contrast(factor * 0.01);
    Some(Printed { value, quantum, statistic: Statistic::MeanOfMinima, places: Some(8), tries: Some(8) })
}

fn interval(line: &str) -> Option<IntervalRow> {
    let (size, rest) = line.split_once(" bytes: min ")?;
    let min = contrast(rest.split_whitespace().next()?);
    Some(IntervalRow {
        size: Bytes(size.parse().ok()?),
        evidence: IntervalEvidence::Printed { min, avg: None, max: None },
    })
}

fn write_align(text: &str) -> Vec<Data> {
    let mut runs: Vec<AlignData> = Vec::new();
    for line in text.lines() {
        if let Some(at) = line.find("-b ").filter(|_| line.contains("flashbench") && line.contains("-A")) {
            let block = line[at + 3..].split_whitespace().next().and_then(|block| block.parse().ok());
            runs.push(AlignData { direction: Direction::Write, block, access: 2, rows: Vec::new() });
        } else if let (Some(rest), Some(data)) = (line.strip_prefix("write align "), runs.last_mut()) {
            let fields: Vec<&str> = rest.split_whitespace().collect();
            let [align, "pre", pre, "on", on, "post", post, ..] = fields[..] else { continue };
            data.rows.push(AlignRow {
                align: Bytes(align.parse().unwrap()),
                evidence: AlignEvidence::Printed {
                    pre: contrast(pre),
                    on: contrast(on),
                    post: contrast(post),
                    diff: None,
                },
            });
        }
    }
    runs.into_iter().map(Data::Align).collect()
}
