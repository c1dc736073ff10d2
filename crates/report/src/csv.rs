//! Findings and performance as CSV, one figure per line, under the names of the record.

use crate::foreign::csv_lines;
use crate::sheet::sheet;
use crate::xlsx;
use flashscope_model::finding::{Bound, Cell, Field, Figure, Kind, LongRun, PerformanceCell, Visit};
use flashscope_model::{Estimate, Finding, Order, Reason, RunRecord};
use flashscope_view::table::direction_word;
use std::borrow::Cow;

/// The figures of a run: `section,item,figure,value`, numbers in the unit of the figure's name, absent figures empty.
pub fn csv(run: &RunRecord) -> String {
    let sheet = figures(run);
    csv_lines(sheet.rows.iter().map(|row| row.each_ref().map(|field| Cow::Borrowed(field.as_str()))))
}

/// The same figures, a sheet for each section.
pub fn sheets(run: &RunRecord) -> Vec<xlsx::Sheet> {
    let cell = |field: &String| match field.parse::<f64>() {
        Ok(number) => number.into(),
        Err(_) if field.is_empty() => xlsx::Cell::Empty,
        Err(_) => field.as_str().into(),
    };
    let rows = figures(run).rows.split_off(1);
    let sections = rows.chunk_by(|one, other| one[0] == other[0]);
    let sheet = |rows: &[[String; 4]]| {
        sheet(
            &rows[0][0],
            &["item", "figure", "value"],
            rows.iter().map(|row| row[1..].iter().map(cell).collect()).collect(),
        )
    };
    sections.map(sheet).collect()
}

fn figures(run: &RunRecord) -> Sheet {
    let mut sheet = Sheet { rows: vec![["section", "item", "figure", "value"].map(str::to_owned)] };
    sheet.row("run", "tool", "version", &run.envelope.tool.version);
    sheet.row("run", "target", "name", &run.envelope.target);
    if let Some(device) = &run.envelope.device {
        sheet.row("run", "device", "name", &device.name);
        sheet.row("run", "device", "capacity_bytes", &device.capacity.get().to_string());
    }
    run.findings.geometry.each(&mut sheet);
    for cell in &run.findings.performance {
        sheet.performance(cell);
    }
    for advice in &run.findings.advice {
        sheet.row("advice", &advice.topic, "text", &advice.text);
        sheet.row("advice", &advice.topic, "because", &advice.because);
    }
    if let Some(cost) = &run.envelope.cost {
        sheet.row("cost", "run", "read_bytes", &cost.read.get().to_string());
        sheet.row("cost", "run", "written_bytes", &cost.written.get().to_string());
        sheet.row("cost", "run", "time_ns", &cost.time.get().to_string());
    }
    sheet
}

struct Sheet {
    rows: Vec<[String; 4]>,
}

impl Sheet {
    fn row(&mut self, section: &str, item: &str, figure: &str, value: &str) {
        self.rows.push([section, item, figure, value].map(str::to_owned));
    }

    fn performance(&mut self, cell: &PerformanceCell) {
        let order = match cell.order {
            Order::InOrder => "in_order",
            Order::Random => "random",
        };
        let item = format!("{} {order} {} q{}", direction_word(cell.direction), cell.block.get(), cell.queue_depth);
        let p99 = cell.service_time_p99.map(|time| time.get().to_string()).unwrap_or_default();
        let of_run = |pick: &dyn Fn(LongRun) -> Option<String>| cell.long_run.and_then(pick).unwrap_or_default();
        for (figure, value) in [
            ("rate_bytes_per_s_mean", cell.mean_rate.get().to_string()),
            ("rate_bytes_per_s_low", of_run(&|run| Some(run.low.get().to_string()))),
            ("rate_bytes_per_s_high", of_run(&|run| Some(run.high.get().to_string()))),
            ("rate_settled", of_run(&|run| Some(run.settled.to_string()))),
            ("first_requests", of_run(&|run| run.first.map(|first| first.0.to_string()))),
            ("first_rate_bytes_per_s", of_run(&|run| run.first.map(|first| first.1.get().to_string()))),
            ("iops_mean", cell.iops.0.to_string()),
            ("service_time_ns_p50", cell.service_time.value.get().to_string()),
            ("service_time_ns_p50_low", cell.service_time.low.get().to_string()),
            ("service_time_ns_p50_high", cell.service_time.high.get().to_string()),
            ("service_time_ns_p99", p99),
            ("service_time_ns_max", cell.service_time_max.get().to_string()),
            ("requests", cell.requests.to_string()),
        ] {
            self.row("performance", &item, figure, &value);
        }
    }
}

/// Every finding: its figure or the ends of its bound, how sure it is, and why there is none.
impl Visit for Sheet {
    fn visit<F: Figure>(&mut self, finding: Finding, estimate: &Estimate<F>) {
        let (least, most) = estimate.bound().map_or((None, None), Bound::ends);
        self.figure(finding, "", estimate.figure(), F::FIELDS);
        for (prefix, end) in [("at_least_", least), ("at_most_", most)] {
            if end.is_some() {
                self.figure(finding, prefix, end, F::FIELDS);
            }
        }
        let confidence = estimate.confidence().map(|confidence| confidence.to_string()).unwrap_or_default();
        self.row("geometry", finding.wire(), "confidence", &confidence);
        self.row("geometry", finding.wire(), "reason_unknown", estimate.reason().map_or("", Reason::word));
        self.row("geometry", finding.wire(), "evidence", estimate.evidence());
    }
}

impl Sheet {
    fn figure<F: Figure>(&mut self, finding: Finding, prefix: &str, figure: Option<&F>, fields: &[Field]) {
        let cells = figure.map(Figure::cells);
        for (at, field) in fields.iter().enumerate() {
            self.cell(finding, &format!("{prefix}{}", field.name), field, cells.as_ref().map(|cells| &cells[at]));
        }
    }

    /// A list has a row for each field of each of its figures, under its number.
    fn cell(&mut self, finding: Finding, name: &str, field: &Field, cell: Option<&Cell>) {
        let value = match (cell, &field.kind) {
            (Some(Cell::List(rows)), Kind::List(fields)) => {
                for (number, cells) in rows.iter().enumerate() {
                    for (field, cell) in fields.iter().zip(cells) {
                        self.cell(finding, &format!("{number}_{}", field.name), field, Some(cell));
                    }
                }
                return;
            }
            (None, Kind::List(_)) => return,
            (Some(Cell::Whole(value)), _) => value.to_string(),
            (Some(Cell::Number(value)), _) => value.to_string(),
            (Some(Cell::Flag(yes)), _) => yes.to_string(),
            (Some(Cell::Word(word)), _) => word.clone(),
            (Some(Cell::Absent | Cell::List(_)) | None, _) => String::new(),
        };
        self.row("geometry", finding.wire(), name, &value);
    }
}
