//! Writing what was drawn as a model file. The catalogue's model is the form that is filled in: what is not drawn
//! stays as it is there, and a parameter that the form does not have is an error.

use super::DrawError;
use super::card::Card;
use super::drive::{Drive, Slc};
use super::memory::Memory;
use flashscope_units::{Bytes, Nanos};
use toml::{Table, Value};

/// A model file in the making.
pub(super) struct ModelText {
    table: Table,
}

/// A card, on the form of the catalogue's `sd-4mib`.
pub(super) fn of_card(card: &Card) -> Result<ModelText, DrawError> {
    let mut model = ModelText::form("sd-4mib")?;
    model.set("device.product", "DRAWN")?;
    model.set("device.kind", card.kind)?;
    model.set("device.capacity", size(card.capacity))?;
    model.section("device.claims", claims(card.claimed_unit))?;
    model.set("link.command", time(card.command))?;
    model.set("link.bytes_per_s", card.bytes_per_s)?;
    model.set("link.max_request", size(card.max_request))?;
    model.set("link.flush", time(card.durable_write))?;
    model.set("link.durable_write", time(card.durable_write))?;

    model.set("mapping.hidden", size(card.in_front))?;
    model.set("mapping.unit", size(card.unit))?;
    model.set("mapping.sub_unit", size(card.sub_unit))?;
    model.set("mapping.page", size(card.page))?;
    model.set("mapping.page_inner", size(card.page_inner))?;
    model.set("mapping.stripe", size(card.unit))?;
    model.set("mapping.logs_in_order", i64::from(card.logs_in_order))?;
    model.set("mapping.logs_random", i64::from(card.logs_random))?;
    model.set("mapping.random_log", size(card.random_log))?;
    model.set("mapping.stream", size(card.stream))?;
    model.set("mapping.spare_units", i64::from(card.spare_units))?;

    model.set("mapping.read.chunk", size(card.chunk))?;
    model.set("mapping.read.decode", time(card.decode))?;
    model.set("mapping.read.sense", time(card.sense))?;
    model.set("mapping.read.inner_edge", time(card.inner_edge))?;
    model.set("mapping.read.sub_unit_edge.time", time(card.sub_unit_edge))?;
    model.set("mapping.read.sub_unit_edge.hidden", card.hidden)?;
    model.set("mapping.read.unit_edge.time", time(card.unit_edge))?;
    model.set("mapping.read.unit_edge.hidden", card.hidden)?;
    model.set("mapping.read.unit_switch", time(card.unit_switch))?;
    model.set("mapping.read.small_lookup", time(card.small_lookup))?;
    model.set("mapping.program.page", time(card.program))?;
    model.set("mapping.merge.copy", time(card.merge_copy))?;
    model.set("mapping.merge.fixed", time(card.merge_fixed))?;

    model.set("mapping.small.limit", size(card.small_limit))?;
    model.set("mapping.small.pages", i64::from(card.small_pages))?;
    model.set("mapping.small.program", time(card.small_program))?;
    if let Some([shortest, longest]) = card.small_collect {
        model.set("mapping.small.collect_shortest", time(shortest))?;
        model.set("mapping.small.collect_longest", time(longest))?;
    }
    model.set("mapping.small.gather", time(card.small_gather))?;

    model.set("mapping.housekeeping.owed", i64::from(card.stalls.owed))?;
    model.set("mapping.housekeeping.refill", card.stalls.refill)?;
    model.set("mapping.housekeeping.chance", card.stalls.chance)?;
    model.set("mapping.housekeeping.shortest", time(card.stalls.shortest))?;
    model.set("mapping.housekeeping.longest", time(card.stalls.longest))?;
    model.set("mapping.housekeeping.idle_after", time(card.idle_after))?;

    let areas = card.areas.iter().map(|area| {
        Table::from_iter([
            ("start".to_owned(), size(area.start)),
            ("end".to_owned(), size(area.end)),
            ("program".to_owned(), time(area.program)),
            ("sense".to_owned(), time(area.sense)),
            ("small_program".to_owned(), time(area.small_program)),
            ("erase".to_owned(), time(area.erase)),
            ("page_mapped".to_owned(), Value::Boolean(area.page_mapped)),
        ])
    });
    model.set("mapping.areas", Value::Array(areas.map(Value::Table).collect()))?;
    model.set("state.start", if card.blank { "blank" } else { "filled" })?;
    Ok(model)
}

/// A drive, on the form of the catalogue's `ssd-consumer`.
pub(super) fn of_drive(drive: &Drive) -> Result<ModelText, DrawError> {
    let mut model = ModelText::form("ssd-consumer")?;
    model.set("device.product", "DRAWN")?;
    model.set("device.kind", drive.kind)?;
    model.set("device.capacity", size(drive.capacity))?;
    model.set("link.command", time(drive.command))?;
    model.set("link.bytes_per_s", drive.bytes_per_s)?;
    model.set("link.max_request", size(drive.max_request))?;
    model.set("mapping.nand.channels", i64::from(drive.channels))?;
    model.set("mapping.nand.dies_per_channel", i64::from(drive.dies_per_channel))?;
    model.set("mapping.nand.planes", i64::from(drive.planes))?;
    model.set("mapping.nand.page", size(drive.page))?;
    model.set("mapping.nand.pages_per_block", i64::from(drive.pages_per_block))?;
    model.set("mapping.nand.blocks_per_plane", i64::from(drive.blocks_per_plane))?;
    model.set("mapping.nand.bad_blocks", i64::from(drive.bad_blocks))?;
    model.set("mapping.nand.bits_per_cell", i64::from(drive.bits_per_cell))?;
    model.set("mapping.nand.bus_bytes_per_s", drive.bus_bytes_per_s)?;
    let read = drive.read.iter().copied().map(time).collect();
    model.set("mapping.nand.read", Value::Array(read))?;
    model.set("mapping.nand.multi_plane_read", time(drive.multi_plane_read))?;
    model.set("mapping.nand.program", Value::Array(vec![time(drive.program)]))?;
    model.set("mapping.nand.erase", time(drive.erase))?;
    model.set("mapping.processing", time(drive.processing))?;
    model.set("mapping.issue", time(drive.issue))?;
    model.set("mapping.buffer.size", size(drive.buffer))?;
    let slc = match drive.slc {
        Slc::None => vec![("kind", Value::from("none"))],
        Slc::Static(count) => vec![("kind", Value::from("static")), ("superblocks", Value::from(i64::from(count)))],
        Slc::Dynamic(count) => vec![
            ("kind", Value::from("dynamic")),
            ("max_superblocks", Value::from(i64::from(count))),
            ("keep_free", Value::from(i64::from(drive.foreground_below) + 2)),
        ],
    };
    model.set("mapping.collection.foreground_below", i64::from(drive.foreground_below))?;
    model.section("mapping.slc", Table::from_iter(slc.into_iter().map(|(key, value)| (key.to_owned(), value))))?;
    if let Some(reach) = drive.map_reach {
        let cache = [("reach".to_owned(), size(reach)), ("page".to_owned(), Value::from("4KiB"))];
        model.add_within("mapping", "map_cache", Table::from_iter(cache))?;
    }
    model.set("state.start", if drive.blank { "blank" } else { "filled" })?;
    Ok(model)
}

fn claims(unit: Option<Bytes>) -> Table {
    unit.into_iter().map(|unit| ("allocation_unit".to_owned(), size(unit))).collect()
}

pub(super) fn size(bytes: Bytes) -> Value {
    Value::String(bytes.get().to_string())
}

pub(super) fn time(nanos: Nanos) -> Value {
    Value::String(format!("{}us", nanos.get() as f64 / 1e3))
}

impl ModelText {
    fn form(name: &str) -> Result<ModelText, DrawError> {
        let text = flashscope_sim::show(name, false, |_| Err("no files".to_owned()));
        let text = text.map_err(|error| DrawError(error.to_string()))?;
        let table = text.parse().map_err(|error| DrawError(format!("{name}: {error}")))?;
        Ok(ModelText { table })
    }

    /// Fills in a parameter that the form has.
    pub(super) fn set(&mut self, path: &str, value: impl Into<Value>) -> Result<(), DrawError> {
        let absent = || DrawError(format!("the catalogue's model has no parameter {path}"));
        *self.place(path).ok_or_else(absent)? = value.into();
        Ok(())
    }

    /// A section that the form does not have, because a device without it is the usual one.
    pub(super) fn add(&mut self, section: &str, table: Table) {
        self.table.insert(section.to_owned(), Value::Table(table));
    }

    /// Keys of a section that it has only where they are needed.
    pub(super) fn extend(&mut self, section: &str, keys: Table) {
        if let Some(found) = self.table.get_mut(section).and_then(Value::as_table_mut) {
            found.extend(keys);
        }
    }

    /// The size of the device, as it was set.
    pub(super) fn capacity(&self) -> Bytes {
        let text = self.table.get("device").and_then(|device| device.get("capacity")).and_then(Value::as_str);
        text.and_then(|text| text.parse().ok()).map_or(Bytes::ZERO, Bytes)
    }

    /// Puts a whole section in the place of the form's.
    fn section(&mut self, path: &str, section: Table) -> Result<(), DrawError> {
        self.set(path, Value::Table(section))
    }

    /// Adds a section to another one that the form has.
    fn add_within(&mut self, path: &str, name: &str, section: Table) -> Result<(), DrawError> {
        let absent = || DrawError(format!("the catalogue's model has no section {path}"));
        let table = self.place(path).and_then(Value::as_table_mut).ok_or_else(absent)?;
        table.insert(name.to_owned(), Value::Table(section));
        Ok(())
    }

    /// Adds what lies between link and flash.
    pub(super) fn memory(&mut self, memory: &Memory) {
        let mut section = |name: &str, figures: Vec<(&str, Value)>| {
            let table = Table::from_iter(figures.into_iter().map(|(key, value)| (key.to_owned(), value)));
            self.table.insert(name.to_owned(), Value::Table(table));
        };
        if let Some(buffer) = &memory.write_buffer {
            section(
                "write_buffer",
                vec![
                    ("size", size(buffer.size)),
                    ("entries", Value::from(i64::from(buffer.entries))),
                    ("flush", Value::from(if buffer.whole { "whole" } else { "steady" })),
                    ("window", time(buffer.window)),
                    ("flushed_by_read", Value::Boolean(buffer.flushed_by_read)),
                    ("volatile", Value::Boolean(buffer.volatile)),
                ],
            );
        }
        if let Some(buffer) = &memory.read_buffer {
            section("read_buffer", vec![("size", size(buffer.size)), ("line", size(buffer.line))]);
        }
        if let Some(ahead) = &memory.read_ahead {
            let trigger = Value::from(i64::from(ahead.trigger));
            section(
                "read_ahead",
                vec![("window", size(ahead.window)), ("trigger", trigger), ("step", size(ahead.step))],
            );
        }
    }

    fn place(&mut self, path: &str) -> Option<&mut Value> {
        let mut steps = path.split('.');
        let first = self.table.get_mut(steps.next()?)?;
        steps.try_fold(first, |place, step| place.as_table_mut()?.get_mut(step))
    }

    /// The model file.
    pub(super) fn finish(&self) -> Result<String, DrawError> {
        toml::to_string_pretty(&self.table).map_err(|error| DrawError(error.to_string()))
    }
}
