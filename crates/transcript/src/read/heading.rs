//! Headings that scripts and people put over tables in place of the command.

use super::lexer::{Kind, Lexeme, lex};
use flashscope_model::Order;

/// What a heading says of the tables below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Heading {
    pub(super) test: Option<Test>,
    pub(super) order: Option<Order>,
    pub(super) count: Option<u32>,
}

/// A test, as far as it must be known to read a table of rates or pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Test {
    Align,
    OpenAu,
    Fat,
    Program,
    Interval,
    Scatter,
}

/// Reads a heading: a decorated or short line that names a test, an order or a number of units.
pub(super) fn read(line: &str) -> Option<Heading> {
    let trimmed = line.trim();
    let decorated = trimmed.starts_with(['=', '*', '#', '-', '+', '[']) || trimmed.ends_with([':', '=', '*', '#']);
    let lexemes = lex(trimmed);
    let words = lexemes.iter().filter(|lexeme| lexeme.kind == Kind::Word).count();
    // A sentence is no heading, nor is a line of another program's output.
    if words == 0 || words > 10 || lexemes.len() > 60 || (trimmed.contains(['/', '\\']) && !trimmed.starts_with("==")) {
        return None;
    }
    let has = |word: &str| lexemes.iter().any(|lexeme| lexeme.is_word(word));
    let count = unit_count(&lexemes);
    let order = match (has("random"), has("linear") || has("sequential")) {
        (true, false) => Some(Order::Random),
        (false, true) => Some(Order::InOrder),
        _ => None,
    };
    let test = if has("align") || has("alignment") {
        Some(Test::Align)
    } else if has("fat") {
        Some(Test::Fat)
    } else if has("program") {
        Some(Test::Program)
    } else if has("interval") {
        Some(Test::Interval)
    } else if has("scatter") {
        Some(Test::Scatter)
    } else if count.is_some() || (has("open") && (has("au") || has("aus"))) {
        Some(Test::OpenAu)
    } else {
        None
    };
    let access = order.is_some() && has("access");
    let says_something = count.is_some() || (decorated && (test.is_some() || access));
    says_something.then_some(Heading { test: test.or(access.then_some(Test::OpenAu)), order, count })
}

impl Heading {
    /// A heading inside a section: what it does not say, the section does.
    pub(super) fn within(self, section: Heading) -> Heading {
        let same = self.test.is_none() || self.test == section.test;
        Heading {
            test: self.test.or(section.test),
            order: self.order.or(section.order.filter(|_| same)),
            count: self.count,
        }
    }
}

/// `AU=3`, `AU: 3`, `3 AUs`, `3 open AUs`, `open-au-nr=3`, `3 erase blocks`.
fn unit_count(lexemes: &[Lexeme<'_>]) -> Option<u32> {
    let unit = |lexeme: &Lexeme<'_>| ["au", "aus"].iter().any(|word| lexeme.is_word(word));
    let number = |at: usize| lexemes.get(at).and_then(Lexeme::integer).filter(|n| (1..=4096).contains(n));
    let separator = |at: usize| lexemes.get(at).is_some_and(|lexeme| lexeme.is_mark('=') || lexeme.is_mark(':'));
    for (at, lexeme) in lexemes.iter().enumerate() {
        let behind = if separator(at + 1) { number(at + 2) } else { number(at + 1) };
        let named = unit(lexeme) || (lexeme.is_word("nr") && at >= 2 && unit(&lexemes[at - 2]));
        let sized =
            |at: usize| lexemes.get(at).is_some_and(|next| ["mib", "kib", "mb", "kb"].iter().any(|u| next.is_word(u)));
        let behind_at = if separator(at + 1) { at + 3 } else { at + 2 };
        if named && !sized(behind_at) {
            if let Some(count) = behind {
                return u32::try_from(count).ok();
            }
            let before = at.checked_sub(1).and_then(number);
            let before_open = at.checked_sub(2).filter(|_| lexemes[at - 1].is_word("open")).and_then(number);
            if let Some(count) = before.or(before_open) {
                return u32::try_from(count).ok();
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings() {
        let check = |line: &str, expect: Option<(Option<Test>, Option<Order>, Option<u32>)>| {
            let expect = expect.map(|(test, order, count)| Heading { test, order, count });
            assert_eq!(read(line), expect, "{line}");
        };
        let open = Some(Test::OpenAu);
        check("======= AU=3, random access =======", Some((open, Some(Order::Random), Some(3))));
        check("============== Linear access ============", Some((open, Some(Order::InOrder), None)));
        check("============== Random access============", Some((open, Some(Order::Random), None)));
        check("============== Find FAT ============", Some((Some(Test::Fat), None, None)));
        check("======= find FAT: 2 =======", Some((Some(Test::Fat), None, None)));
        check("======= Align test: 3 =======", Some((Some(Test::Align), None, None)));
        check("3 open AUs, random:", Some((open, Some(Order::Random), Some(3))));
        check("open-au-nr=4", Some((open, None, Some(4))));
        check("with 9 AUs", Some((open, None, Some(9))));
        check("Random access is slow on this one", None);
        check("the AU is 4 MiB", None);
        check("AU=4MiB", None);
        check("", None);
    }
}
