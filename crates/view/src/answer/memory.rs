//! Findings on buffers, read-ahead and stalls in words.

use super::{Answer, answer};
use flashscope_model::Estimate;
use flashscope_model::finding::{BufferLimit, Collection, Memory, ReadAhead, WriteBuffer};
use flashscope_units::{Bytes, Nanos};

/// The findings that say something: what belongs to a write buffer only where there is one.
pub(super) fn answers(memory: &Memory) -> Vec<Answer> {
    let mut answers = vec![none_above("write buffer", &memory.write_buffer, write_buffer, |buffer| buffer.size)];
    if memory.write_buffer.value.is_some() {
        answers.extend([
            answer("  volatile", &memory.write_buffer_volatile, yes),
            answer("  flushed by a read", &memory.write_buffer_flushed_by_read, yes),
            answer("  flushed after", &memory.write_buffer_flush_window, Nanos::to_string),
        ]);
    }
    answers.push(none_above("read buffer", &memory.read_buffer, Bytes::to_string, |size| *size));
    answers.push(answer("read-ahead", &memory.read_ahead, read_ahead));
    if memory.collection.value.is_some() {
        answers.push(answer("collection stalls", &memory.collection, collection));
    }
    answers
}

/// Where only an upper bound is known, there is none that is larger.
fn none_above<T>(
    name: &'static str,
    estimate: &Estimate<T>,
    print: impl Fn(&T) -> String,
    size: impl Fn(&T) -> Bytes,
) -> Answer {
    let mut answer = answer(name, estimate, print);
    if let (None, None, Some(most)) = (&estimate.value, &estimate.at_least, &estimate.at_most) {
        answer.figure = Some(format!("none ≥ {}", size(most)));
    }
    answer
}

fn write_buffer(buffer: &WriteBuffer) -> String {
    match buffer.limit {
        BufferLimit::Bytes => buffer.size.to_string(),
        BufferLimit::Entries => format!("{} writes", buffer.writes),
        BufferLimit::Unknown => format!("{} × {}", buffer.writes, buffer.block),
    }
}

fn collection(found: &Collection) -> String {
    format!("{}, one in {}", found.stall, found.spacing)
}

fn yes(yes: &bool) -> String {
    if *yes { "yes" } else { "no" }.to_owned()
}

fn read_ahead(ahead: &ReadAhead) -> String {
    match ahead.window {
        Bytes::ZERO => "none".to_owned(),
        window => format!("{window} from {}", ordinal(ahead.trigger)),
    }
}

/// `2nd`, as in "from the second read on".
fn ordinal(number: u32) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_endings() {
        let check = |number, expect: &str| assert_eq!(ordinal(number), expect);
        check(1, "1st");
        check(2, "2nd");
        check(3, "3rd");
        check(4, "4th");
        check(12, "12th");
        check(22, "22nd");
    }

    #[test]
    fn what_a_buffer_has_is_told_only_where_there_is_one() {
        let mut memory = Memory::unknown("nobody looked");
        assert_eq!(answers(&memory).len(), 3);
        let buffer = WriteBuffer { size: Bytes::kib(64), limit: BufferLimit::Bytes, block: Bytes::kib(4), writes: 16 };
        memory.write_buffer = Estimate::at_most(buffer, 0.98, "each write waits", &["buffer"]);
        assert_eq!(answers(&memory)[0].figure.as_deref(), Some("none ≥ 64 KiB"));
        memory.write_buffer = Estimate::known(buffer, 0.98, "the 17th write waits", &["buffer"]);
        assert_eq!(answers(&memory).len(), 6);
        assert_eq!(answers(&memory)[0].figure.as_deref(), Some("64 KiB"));
    }
}
