//! Findings on buffers, read-ahead and stalls in words.

use flashscope_model::finding::{BufferLimit, Collection, ReadAhead, WriteBuffer};
use flashscope_units::Bytes;

pub(super) fn write_buffer(buffer: &WriteBuffer) -> String {
    match buffer.limit {
        BufferLimit::Bytes => buffer.size.to_string(),
        BufferLimit::Entries => format!("{} writes", buffer.writes),
        BufferLimit::Unknown => format!("{} × {}", buffer.writes, buffer.block),
    }
}

pub(super) fn collection(found: &Collection) -> String {
    format!("{}, one in {}", found.stall, found.spacing)
}

pub(super) fn yes(yes: &bool) -> String {
    if *yes { "yes" } else { "no" }.to_owned()
}

pub(super) fn read_ahead(ahead: &ReadAhead) -> String {
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
}
