//! Known memory in, right answers out: buffers and read-ahead in front of the demo card, and none in front of others.

use flashscope_device::{Target, WriteGrant};
use flashscope_model::Geometry;
use flashscope_model::finding::BufferLimit;
use flashscope_model::plan::Budget;
use flashscope_proof::Nobody;
use flashscope_session::{Options, inspect};
use flashscope_units::{Bytes, Nanos};

/// What `inspect` finds of the model with these sections behind it.
fn inspected(model: &str, sections: &str, noise: &str, seed: u64) -> Geometry {
    let base = flashscope_sim::show(&format!("{model},noise={noise}"), false, |_| Err("no files".to_owned()));
    let text = format!("{}\n{sections}", base.expect("a model of the catalogue"));
    let mut target = flashscope_sim::open_with("card.toml", seed, |_| Ok(text.clone())).expect("a device");
    let mut grant = WriteGrant::simulated(target.facts(), Bytes::gib(2)).expect("a simulated device");
    let options = Options { seed, budget: Budget { write: Bytes::gib(2), time: None } };
    inspect(&mut target, Some(&mut grant), options, &mut Nobody).findings.geometry
}

fn buffer(size: &str, entries: u32, flush: &str, window: &str, by_read: bool, volatile: bool) -> String {
    format!(
        "[write_buffer]\nsize = \"{size}\"\nentries = {entries}\nflush = \"{flush}\"\nwindow = \"{window}\"\n\
         flushed_by_read = {by_read}\nvolatile = {volatile}\n"
    )
}

#[test]
fn write_buffers_are_told_by_size_and_by_what_they_count() {
    for noise in ["none", "field"] {
        let found = inspected("sd-4mib", &buffer("96KiB", 0, "whole", "0s", true, true), noise, 3);
        let size = found.write_buffer.value().unwrap_or_else(|| panic!("{noise}: {:?}", found.write_buffer));
        assert_eq!((size.size, size.limit), (Bytes::kib(96), BufferLimit::Bytes), "{noise}");
        assert_eq!(found.write_buffer_volatile.value(), Some(true), "{noise}");
        assert_eq!(found.write_buffer_flushed_by_read.value(), Some(true), "{noise}");

        let found = inspected("sd-4mib", &buffer("4MiB", 19, "whole", "30ms", false, true), noise, 4);
        let size = found.write_buffer.value().unwrap_or_else(|| panic!("{noise}: {:?}", found.write_buffer));
        assert_eq!((size.writes, size.limit), (19, BufferLimit::Entries), "{noise}");
        assert_eq!(found.write_buffer_flushed_by_read.value(), Some(false), "{noise}");
        let window = &found.write_buffer_flush_window;
        assert!(window.least().is_none_or(|least| least <= Nanos::millis(30)), "{window:?}");
        assert!(window.most().is_some_and(|most| most >= Nanos::millis(30)), "{window:?}");
    }
}

#[test]
fn what_was_read_last_and_what_is_fetched_ahead_are_told_apart() {
    let read = "[read_buffer]\nsize = \"80KiB\"\nline = \"16KiB\"\n";
    let ahead = "[read_ahead]\nwindow = \"112KiB\"\ntrigger = 3\nstep = \"16KiB\"\n";
    for noise in ["none", "bench"] {
        let found = inspected("sd-4mib", read, noise, 5);
        assert_eq!(found.read_buffer.value(), Some(Bytes::kib(80)), "{noise}: {:?}", found.read_buffer);
        assert_eq!(found.read_ahead.value().map(|ahead| ahead.window), Some(Bytes::ZERO), "{:?}", found.read_ahead);
        let found = inspected("sd-4mib", ahead, noise, 6);
        assert!(found.read_buffer.value().is_none() && found.read_buffer.most().is_some(), "{:?}", found.read_buffer);
        let seen = found.read_ahead.value().unwrap_or_else(|| panic!("{noise}: {:?}", found.read_ahead));
        assert_eq!(seen.window, Bytes::kib(112), "{noise}");
        assert!((3..=4).contains(&seen.trigger), "{noise}: {}", seen.trigger);
    }
}

#[test]
fn cards_without_memory_get_none() {
    for (model, seed) in [("sd-4mib", 1), ("sd-24mib", 2), ("sd-worn", 3), ("emmc-write-align", 4), ("sd-flat", 5)] {
        let found = inspected(model, "", "field", seed);
        assert_eq!(found.write_buffer.value(), None, "{model}: {:?}", found.write_buffer);
        assert!(found.read_buffer.value().is_none() && found.read_buffer.least().is_none(), "{model}");
        let ahead = &found.read_ahead;
        assert!(ahead.least().is_none(), "{model}: {ahead:?}");
        assert!(ahead.value().is_none_or(|ahead| ahead.window == Bytes::ZERO), "{model}: {ahead:?}");
    }
}
