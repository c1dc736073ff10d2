//! Findings and performance as CSV, one figure per line, under the names of the record.

use flashscope_model::finding::{
    AreaPart, Collection, FastArea, Memory, Penalty, PerformanceCell, ReadAhead, WriteBuffer,
};
use flashscope_model::{Estimate, Order, RunRecord};
use flashscope_units::Nanos;
use flashscope_view::table::direction_word;

/// The figures of a run: `section,item,figure,value`, numbers in the unit of the figure's name, absent figures empty.
pub fn csv(run: &RunRecord) -> String {
    let mut sheet = Sheet { text: "section,item,figure,value\n".to_owned() };
    sheet.row("run", "tool", "version", &run.tool_version);
    sheet.row("run", "target", "name", &run.target);
    if let Some(device) = &run.device {
        sheet.row("run", "device", "name", &device.name);
        sheet.row("run", "device", "capacity_bytes", &device.capacity.get().to_string());
    }
    let geometry = &run.findings.geometry;
    let bytes = |size: &flashscope_units::Bytes| vec![size.get().to_string()];
    let count = |count: &u32| vec![count.to_string()];
    sheet.estimate("allocation_unit", &geometry.allocation_unit, &["bytes"], bytes);
    sheet.estimate("page", &geometry.page, &["bytes"], bytes);
    sheet.estimate("boundary_offset", &geometry.boundary_offset, &["bytes"], bytes);
    sheet.estimate("page_inner", &geometry.page_inner, &["bytes"], bytes);
    sheet.estimate("open_units_linear", &geometry.open_units_linear, &["count"], count);
    sheet.estimate("open_units_random", &geometry.open_units_random, &["count"], count);
    sheet.estimate("random_order_penalty", &geometry.random_order_penalty, &PENALTY, penalty);
    sheet.estimate("small_write_path", &geometry.small_write_path, &["up_to_bytes"], bytes);
    sheet.estimate("fast_area", &geometry.fast_area, &AREA, area);
    sheet.parts(&geometry.fast_area_parts);
    sheet.estimate("never_written", &geometry.never_written, &["ratio"], |ratio| vec![ratio.to_string()]);
    sheet.memory(&geometry.memory);
    for cell in &run.findings.performance {
        sheet.performance(cell);
    }
    sheet.row("cost", "run", "read_bytes", &run.cost.read.get().to_string());
    sheet.row("cost", "run", "written_bytes", &run.cost.written.get().to_string());
    sheet.row("cost", "run", "time_ns", &run.cost.time.get().to_string());
    sheet.text
}

const PENALTY: [&str; 4] = ["ratio", "at_block_bytes", "in_order_bytes_per_s", "random_bytes_per_s"];
const AREA: [&str; 4] = ["first_bytes", "end_bytes", "kind", "rate_ratio"];

fn penalty(penalty: &Penalty) -> Vec<String> {
    vec![
        penalty.ratio.to_string(),
        penalty.block.get().to_string(),
        penalty.in_order.get().to_string(),
        penalty.random.get().to_string(),
    ]
}

fn area(area: &FastArea) -> Vec<String> {
    vec![
        area.first.get().to_string(),
        area.end.get().to_string(),
        format!("{:?}", area.kind).to_lowercase(),
        area.ratio.to_string(),
    ]
}

const WRITE_BUFFER: [&str; 4] = ["bytes", "limited_by", "at_block_bytes", "writes"];
const COLLECTION: [&str; 4] = ["stall_ns_p50", "stall_ns_min", "stall_ns_max", "spacing_bytes"];

fn write_buffer(buffer: &WriteBuffer) -> Vec<String> {
    vec![
        buffer.size.get().to_string(),
        format!("{:?}", buffer.limit).to_lowercase(),
        buffer.block.get().to_string(),
        buffer.writes.to_string(),
    ]
}

fn read_ahead(ahead: &ReadAhead) -> Vec<String> {
    vec![ahead.window.get().to_string(), ahead.trigger.to_string()]
}

fn collection(found: &Collection) -> Vec<String> {
    let times = [found.stall, found.shortest, found.longest].map(|time| time.get().to_string());
    times.into_iter().chain([found.spacing.get().to_string()]).collect()
}

struct Sheet {
    text: String,
}

impl Sheet {
    fn row(&mut self, section: &str, item: &str, figure: &str, value: &str) {
        let fields = [section, item, figure, value].map(quoted);
        self.text.push_str(&fields.join(","));
        self.text.push('\n');
    }

    fn estimate<T>(&mut self, item: &str, estimate: &Estimate<T>, names: &[&str], print: impl Fn(&T) -> Vec<String>) {
        let mut figures = |prefix: &str, value: Option<&T>| {
            let printed = value.map(&print);
            for (at, name) in names.iter().enumerate() {
                let value = printed.as_ref().map_or("", |printed| &printed[at]);
                self.row("geometry", item, &format!("{prefix}{name}"), value);
            }
        };
        figures("", estimate.value.as_ref());
        if estimate.at_least.is_some() {
            figures("at_least_", estimate.at_least.as_ref());
        }
        if estimate.at_most.is_some() {
            figures("at_most_", estimate.at_most.as_ref());
        }
        let confidence = estimate.confidence.map(|confidence| confidence.to_string()).unwrap_or_default();
        self.row("geometry", item, "confidence", &confidence);
        self.row("geometry", item, "reason_unknown", estimate.reason_unknown.as_deref().unwrap_or_default());
    }

    /// One part after the other, each under its number; the bounds of such a list are never set.
    fn parts(&mut self, estimate: &Estimate<Vec<AreaPart>>) {
        let ratio = |ratio: Option<f64>| ratio.map(|ratio| ratio.to_string()).unwrap_or_default();
        for (number, part) in estimate.value.iter().flatten().enumerate() {
            let by_page = part.by_page.map(|by_page| by_page.to_string()).unwrap_or_default();
            for (name, value) in [
                ("first_bytes", part.first.get().to_string()),
                ("end_bytes", part.end.get().to_string()),
                ("in_order_ratio", ratio(part.in_order)),
                ("small_ratio", ratio(part.small)),
                ("by_page", by_page),
            ] {
                self.row("geometry", "fast_area_parts", &format!("{number}_{name}"), &value);
            }
        }
        self.estimate("fast_area_parts", estimate, &[], |_| Vec::new());
    }

    fn memory(&mut self, memory: &Memory) {
        let yes = |yes: &bool| vec![yes.to_string()];
        self.estimate("write_buffer", &memory.write_buffer, &WRITE_BUFFER, write_buffer);
        self.estimate("write_buffer_volatile", &memory.write_buffer_volatile, &["yes"], yes);
        self.estimate("write_buffer_flushed_by_read", &memory.write_buffer_flushed_by_read, &["yes"], yes);
        let time = |time: &Nanos| vec![time.get().to_string()];
        self.estimate("write_buffer_flush_window", &memory.write_buffer_flush_window, &["ns"], time);
        self.estimate("read_buffer", &memory.read_buffer, &["bytes"], |size| vec![size.get().to_string()]);
        self.estimate("read_ahead", &memory.read_ahead, &["window_bytes", "trigger_reads"], read_ahead);
        self.estimate("collection", &memory.collection, &COLLECTION, collection);
    }

    fn performance(&mut self, cell: &PerformanceCell) {
        let order = match cell.order {
            Order::InOrder => "in_order",
            Order::Random => "random",
        };
        let item = format!("{} {order} {} q{}", direction_word(cell.direction), cell.block.get(), cell.queue_depth);
        let p99 = cell.service_time_p99.map(|time| time.get().to_string()).unwrap_or_default();
        for (figure, value) in [
            ("rate_bytes_per_s_mean", cell.mean_rate.get().to_string()),
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

/// RFC 4180: quoted where a comma, a quote or a line end would mislead.
fn quoted(field: &str) -> String {
    let field = crate::foreign::csv(field);
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.into_owned()
    }
}
