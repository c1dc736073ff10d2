//! What the memory does to times, and that it keeps what it was given.

use crate::truth;
use crate::{SimTarget, open, open_with};
use flashscope_device::{Content, ExecuteExt, Fill, Outcome, Request, Target, WriteGrant};
use flashscope_units::{Bytes, Nanos};

const BLOCK: Bytes = Bytes::kib(4);

/// The demo card without noise, and with these sections.
fn card(sections: &str) -> SimTarget {
    open_with("card.toml,noise=none", 1, |_| Ok(text(sections))).unwrap_or_else(|error| panic!("{error}"))
}

fn text(sections: &str) -> String {
    let base = crate::show("sd-4mib,capacity=512MiB", false, |_| Err(String::new())).expect("a model of the catalogue");
    format!("{base}\n{sections}")
}

fn buffer(size: &str, entries: u32, flush: &str, window: &str, by_read: bool, volatile: bool) -> String {
    format!(
        "[write_buffer]\nsize = \"{size}\"\nentries = {entries}\nflush = \"{flush}\"\nwindow = \"{window}\"\n\
         flushed_by_read = {by_read}\nvolatile = {volatile}\n"
    )
}

/// Service times of `count` sequential writes from `start` on.
fn burst(card: &mut SimTarget, start: Bytes, block: Bytes, count: u64, durable: bool) -> Vec<Nanos> {
    let mut grant = WriteGrant::simulated(card.facts(), Bytes::gib(1)).expect("a simulated device");
    (0..count)
        .map(|index| {
            let fill = Fill::Tagged { generation: index as u32 + 1 };
            let at = start + block * index;
            let request = Request::write(&mut grant, index, at, block, fill, durable).expect("granted");
            card.execute(request).expect("the card answers").service_time()
        })
        .collect()
}

fn read(card: &mut SimTarget, at: Bytes, length: Bytes) -> Nanos {
    card.execute(Request::read(0, at, length)).expect("the card answers").service_time()
}

fn flush(card: &mut SimTarget) -> Nanos {
    card.execute(Request::flush(0)).expect("the card answers").service_time()
}

/// Index of the first write that takes twice as long as the first one.
fn first_slow(times: &[Nanos]) -> Option<usize> {
    times.iter().position(|time| *time > times[0] * 2)
}

#[test]
fn a_buffer_takes_what_it_holds_and_the_next_write_waits() {
    let check = |section: String, block: Bytes, expect: Option<usize>| {
        let times = burst(&mut card(&section), Bytes::mib(64), block, 40, false);
        assert_eq!(first_slow(&times), expect, "{section}{times:?}");
    };
    check(buffer("64KiB", 0, "whole", "0s", false, true), BLOCK, Some(16));
    check(buffer("64KiB", 0, "whole", "0s", false, true), BLOCK * 3, Some(5));
    check(buffer("1MiB", 9, "whole", "0s", false, true), BLOCK, Some(9));
    check(buffer("1MiB", 9, "whole", "0s", false, true), BLOCK * 3, Some(9));
    check(buffer("4MiB", 0, "whole", "0s", false, true), BLOCK, None);
}

#[test]
fn a_whole_flush_makes_one_write_wait_and_a_steady_one_each() {
    let count = |flush: &str| {
        let times = burst(&mut card(&buffer("32KiB", 0, flush, "0s", false, true)), Bytes::mib(64), BLOCK, 64, false);
        times.iter().filter(|time| **time > times[0] * 2).count()
    };
    assert!((6..=8).contains(&count("whole")), "{}", count("whole"));
    assert!(count("steady") > 40, "{}", count("steady"));
}

#[test]
fn durable_writes_go_past_a_volatile_buffer_and_into_a_lasting_one() {
    let plain = burst(&mut card(""), Bytes::mib(64), BLOCK, 4, true);
    let volatile = burst(&mut card(&buffer("64KiB", 0, "whole", "0s", false, true)), Bytes::mib(64), BLOCK, 4, true);
    assert_eq!(plain, volatile);
    let lasting = burst(&mut card(&buffer("64KiB", 0, "whole", "0s", false, false)), Bytes::mib(64), BLOCK, 4, true);
    assert!(lasting[3] * 2 < plain[3], "{lasting:?} {plain:?}");
}

#[test]
fn a_flush_writes_out_what_a_power_cut_would_lose() {
    let mut volatile = card(&buffer("64KiB", 0, "whole", "0s", false, true));
    let idle = flush(&mut volatile);
    burst(&mut volatile, Bytes::mib(64), BLOCK, 8, false);
    assert!(flush(&mut volatile) > idle * 5);
    let mut lasting = card(&buffer("64KiB", 0, "whole", "0s", false, false));
    burst(&mut lasting, Bytes::mib(64), BLOCK, 8, false);
    assert_eq!(flush(&mut lasting), idle);
}

#[test]
fn left_alone_for_its_window_a_buffer_is_empty() {
    let check = |pause: Nanos, expect: usize| {
        let mut card = card(&buffer("64KiB", 0, "whole", "30ms", false, true));
        burst(&mut card, Bytes::mib(64), BLOCK, 10, false);
        card.wait_until(card.now() + pause);
        let times = burst(&mut card, Bytes::mib(64) + BLOCK * 10, BLOCK, 30, false);
        assert_eq!(first_slow(&times), Some(expect));
    };
    check(Nanos::millis(20), 6);
    check(Nanos::millis(200), 16);
}

#[test]
fn reads_find_what_is_still_in_memory_and_flush_it_where_the_model_says_so() {
    for by_read in [false, true] {
        let mut card = card(&buffer("64KiB", 0, "whole", "0s", by_read, true));
        let before = read(&mut card, Bytes::mib(200), BLOCK);
        burst(&mut card, Bytes::mib(64), BLOCK, 8, false);
        for index in 0..8 {
            let expected = Fill::Tagged { generation: index + 1 };
            let request = Request::verify(0, Bytes::mib(64) + BLOCK * u64::from(index), BLOCK, expected);
            let done = card.execute(request).expect("the card answers");
            assert_eq!(done.outcome, Outcome::Success);
        }
        let elsewhere = read(&mut card, Bytes::mib(200), BLOCK);
        assert_eq!(elsewhere > before * 2, by_read, "{before} {elsewhere}");
        card.check().expect("nothing is broken");
    }
}

#[test]
fn on_a_blank_card_what_is_in_memory_is_there() {
    let section = buffer("64KiB", 0, "whole", "0s", false, true);
    let text = text(&section);
    let mut card = open_with("card.toml,noise=none,state=blank", 1, |_| Ok(text.clone())).expect("a card");
    burst(&mut card, Bytes::mib(64), BLOCK, 3, false);
    let found = |card: &mut SimTarget, at: Bytes, length: Bytes| {
        card.execute(Request::read(0, at, length)).expect("the card answers").content
    };
    assert_eq!(found(&mut card, Bytes::mib(64), BLOCK * 3), Content::Varied);
    assert_eq!(found(&mut card, Bytes::mib(80), BLOCK), Content::Uniform(255));
}

/// What a power cut takes is what was not flushed, and what a lasting buffer holds survives.
#[test]
fn a_power_cut_loses_what_is_volatile_and_was_not_flushed() {
    for (volatile, flushed) in [(true, false), (true, true), (false, false)] {
        let sections =
            format!("{}\n[fault]\nwrite_cache = \"mapping\"\n", buffer("64KiB", 0, "whole", "0s", false, volatile));
        let mut card = card(&sections);
        burst(&mut card, Bytes::mib(64), BLOCK, 8, false);
        if flushed {
            flush(&mut card);
        }
        card.cut_power().expect("a device with faults");
        card.power_on();
        let kept = (0..8).filter(|index| {
            let at = Bytes::mib(64) + BLOCK * *index;
            let request = Request::verify(0, at, BLOCK, Fill::Tagged { generation: *index as u32 + 1 });
            card.execute(request).expect("the card is back").outcome == Outcome::Success
        });
        let expect = if volatile && !flushed { 0 } else { 8 };
        assert_eq!(kept.count(), expect, "volatile {volatile}, flushed {flushed}");
    }
}

#[test]
fn a_read_buffer_answers_what_was_read_last() {
    let mut card = card("[read_buffer]\nsize = \"64KiB\"\nline = \"16KiB\"\n");
    let check = |card: &mut SimTarget, lines: u64, hit: bool| {
        let top = Bytes::mib(100 + 8 * lines) + Bytes::kib(512);
        let fresh = read(card, top, BLOCK).min(read(card, top - Bytes::kib(256), BLOCK));
        read(card, top, BLOCK);
        for line in 1..lines {
            read(card, top - Bytes::kib(16) * line, BLOCK);
        }
        assert_eq!(read(card, top, BLOCK) < fresh, hit, "{lines} lines");
    };
    check(&mut card, 1, true);
    check(&mut card, 4, true);
    check(&mut card, 5, false);
    burst(&mut card, Bytes::mib(64), BLOCK, 1, true);
    let before = read(&mut card, Bytes::mib(64), BLOCK);
    assert!(read(&mut card, Bytes::mib(64), BLOCK) < before, "a write makes what was read stale");
}

#[test]
fn reads_in_a_row_are_fetched_ahead_and_descending_ones_are_not() {
    for model in ["sd-4mib", "ssd-consumer"] {
        let base = crate::show(&format!("{model},noise=none"), false, |_| Err(String::new())).expect("a model");
        let text = format!("{base}\n[read_ahead]\nwindow = \"64KiB\"\ntrigger = 2\nstep = \"16KiB\"\n");
        let mut card = open_with("card.toml", 1, |_| Ok(text.clone())).expect("a device");
        let block = Bytes::kib(16);
        let start = Bytes::mib(40);
        let rising: Vec<Nanos> = (0..8).map(|index| read(&mut card, start + block * index, block)).collect();
        let falling: Vec<Nanos> = (0..8).map(|index| read(&mut card, start * 2 - block * index, block)).collect();
        assert!(rising[4] < falling[4] && rising[7] < falling[7], "{model} {rising:?} {falling:?}");
        assert!(rising[1] >= *falling.iter().min().expect("eight"), "{model} {rising:?} {falling:?}");
        let far = |card: &mut SimTarget, distance: Bytes| {
            let start = Bytes::mib(120);
            for index in 0..3 {
                read(card, start + block * index, block);
            }
            card.wait_until(card.now() + Nanos::millis(50));
            read(card, start + block * 3 + distance, block)
        };
        assert!(far(&mut card, Bytes::kib(48)) < far(&mut card, Bytes::kib(64)), "{model}");
        card.check().expect("nothing is broken");
    }
}

#[test]
fn sections_that_make_no_sense_are_refused() {
    let check = |base: &str, sections: &str, expect: &str| {
        let base = crate::show(base, false, |_| Err(String::new())).expect("a model of the catalogue");
        let error = open_with("card.toml", 1, |_| Ok(format!("{base}\n{sections}"))).expect_err("nonsense");
        assert!(error.to_string().contains(expect), "{error}");
    };
    check("sd-4mib", "[read_buffer]\nsize = \"40KiB\"\nline = \"16KiB\"\n", "a multiple of read_buffer.line");
    check(
        "sd-4mib",
        "[read_ahead]\nwindow = \"40KiB\"\ntrigger = 2\nstep = \"16KiB\"\n",
        "a multiple of read_ahead.step",
    );
    check("ssd-consumer", &buffer("64KiB", 0, "whole", "0s", false, true), "a buffer of its own");
    check("sd-4mib", "[write_bufer]\n", "unknown field");
}

#[test]
fn the_truth_says_what_the_sections_say() {
    let sections = buffer("64KiB", 9, "steady", "0s", false, true);
    let truth = truth::of("card.toml", |_| Ok(text(&sections))).expect("a card").memory;
    let buffer = truth.write_buffer.value.expect("there is one");
    assert_eq!((buffer.bytes, buffer.entries), (Bytes::kib(64), Some(9)));
    assert_eq!((truth.volatile.value, truth.flush_window.value, truth.read_buffer.value), (Some(true), None, None));
    let without = truth::of("sd-4mib", |_| Err(String::new())).expect("a model of the catalogue").memory;
    assert_eq!(without.write_buffer.value, None);
    assert!(open("sd-4mib", 1).is_ok());
}
