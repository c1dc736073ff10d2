//! Words, numbers and single characters of one cleaned line.

/// What a lexeme is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Letters (of any script) and underscores.
    Word,
    /// Digits with sign, decimal point or comma, exponent.
    Number,
    /// One character of anything else.
    Mark,
}

/// A piece of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lexeme<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
    /// Byte offset in the line.
    pub(super) start: usize,
}

impl Lexeme<'_> {
    pub(super) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text.eq_ignore_ascii_case(word)
    }

    pub(super) fn is_mark(&self, mark: char) -> bool {
        self.kind == Kind::Mark && self.text.starts_with(mark)
    }

    /// A whole number, also with separators between groups of three digits.
    pub(super) fn integer(&self) -> Option<u64> {
        if self.kind != Kind::Number {
            return None;
        }
        if let Ok(plain) = self.text.parse() {
            return Some(plain);
        }
        let mut groups = self.text.split([',', '.']);
        let first = groups.next()?;
        let rest: Vec<&str> = groups.collect();
        let grouped = (1..=3).contains(&first.len()) && rest.iter().all(|group| group.len() == 3);
        (grouped && !rest.is_empty()).then(|| self.text.replace([',', '.'], "").parse().ok()).flatten()
    }
}

/// Cuts a line into lexemes.
pub(super) fn lex(line: &str) -> Vec<Lexeme<'_>> {
    let mut lexemes = Vec::new();
    let mut at = 0;
    while let Some(first) = line[at..].chars().next() {
        let rest = &line[at..];
        let (kind, length) = match first {
            _ if first.is_whitespace() => {
                at += first.len_utf8();
                continue;
            }
            _ if number_starts(line, at) => (Kind::Number, number_length(rest)),
            _ if is_letter(first) => (Kind::Word, rest.find(|c| !is_letter(c)).unwrap_or(rest.len())),
            _ => (Kind::Mark, first.len_utf8()),
        };
        lexemes.push(Lexeme { kind, text: &rest[..length], start: at });
        at += length;
    }
    lexemes
}

fn is_letter(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// Digits, or a minus sign before one that is not a hyphen inside a word.
fn number_starts(line: &str, at: usize) -> bool {
    let bytes = line.as_bytes();
    let digit = |i: usize| bytes.get(i).is_some_and(u8::is_ascii_digit);
    let hyphen = at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'-');
    digit(at) || (bytes[at] == b'-' && digit(at + 1) && !hyphen)
}

fn number_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let digit = |i: usize| bytes.get(i).is_some_and(u8::is_ascii_digit);
    let mut end = usize::from(bytes[0] == b'-');
    while digit(end) || (matches!(bytes.get(end), Some(b'.' | b',')) && digit(end + 1)) {
        end += 1;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if sign == 1 && digit(end + 2) {
            end += 2;
            while digit(end) {
                end += 1;
            }
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lexemes() {
        let check = |line: &str, expect: &[&str]| {
            assert_eq!(lex(line).iter().map(|lexeme| lexeme.text).collect::<Vec<_>>(), expect, "{line}");
        };
        check("align 2048\tpre 678us", &["align", "2048", "pre", "678", "us"]);
        check("post 1e+03µ\tdiff -13700n", &["post", "1e+03", "µ", "diff", "-13700", "n"]);
        check("--open-au-nr=3", &["-", "-", "open", "-", "au", "-", "nr", "=", "3"]);
        check("8.87M/s", &["8.87", "M", "/", "s"]);
        check("bytes 512, time 9", &["bytes", "512", ",", "time", "9"]);
        check("1e5 -b 3.", &["1", "e", "5", "-", "b", "3", "."]);
    }

    #[test]
    fn integers() {
        let check = |text: &str, expect: Option<u64>| assert_eq!(lex(text)[0].integer(), expect, "{text}");
        check("4194304", Some(4_194_304));
        check("4,194,304", Some(4_194_304));
        check("4.194.304", Some(4_194_304));
        check("1.5", None);
        check("-7", None);
        check("99999999999999999999", None);
        check("MiB", None);
    }
}
