//! Undoing what terminals, forums, mail and encodings do to text.

use std::borrow::Cow;

/// No row comes near this; what is beyond is noise and is not read.
const MAX_LINE: usize = 16 << 10;

/// Text from bytes of any encoding, reading no more than about `limit` bytes.
pub(super) fn decode(bytes: &[u8], limit: usize) -> Cow<'_, str> {
    let bytes = &bytes[..bytes.len().min(limit)];
    let utf16 = |from: fn([u8; 2]) -> u16| {
        let units = bytes[2..].chunks_exact(2).map(|pair| from([pair[0], pair[1]]));
        Cow::Owned(char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
    };
    match bytes {
        [0xff, 0xfe, ..] => utf16(u16::from_le_bytes),
        [0xfe, 0xff, ..] => utf16(u16::from_be_bytes),
        _ => String::from_utf8_lossy(bytes),
    }
}

/// The lines of a text with their numbers from 1. Files with bare carriage returns count those.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (u32, &str)> {
    let separator = if text.contains('\n') { '\n' } else { '\r' };
    text.split(separator).zip(1..).map(|(line, number)| {
        let mut end = line.len().min(MAX_LINE);
        while !line.is_char_boundary(end) {
            end -= 1;
        }
        (number, &line[..end])
    })
}

/// The readable pieces of one line: more than one where a carriage return or an HTML tag breaks it.
pub(super) fn pieces(line: &str) -> Vec<String> {
    if line.bytes().all(|byte| {
        (byte == b'\t' || (b' '..=b'~').contains(&byte)) && !matches!(byte, b'^' | b'&' | b'<' | b'[' | b'\\')
    }) {
        return vec![line.to_owned()];
    }
    let text = strip_escapes(line);
    let text = if text.contains('\\') { decode_backslashes(&text) } else { text };
    let text = if text.contains('&') { decode_entities(&text) } else { text };
    let text = if text.contains('<') { replace_tags(&text) } else { text };
    text.split('\r').map(|piece| plain_characters(&caret_notation(piece))).filter(|piece| !piece.is_empty()).collect()
}

/// Removes terminal escape sequences, also where the escape character was printed as `^[` or lost.
fn strip_escapes(line: &str) -> String {
    let line = line.replace("^[", "\u{1b}");
    let mut out = String::with_capacity(line.len());
    let mut rest = line.as_str();
    while let Some(at) = rest.find(['\u{1b}', '\u{9b}', '[']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let skipped = escape_length(rest);
        if skipped == 0 {
            out.push('[');
            rest = &rest[1..];
        } else {
            rest = &rest[skipped..];
        }
    }
    out.push_str(rest);
    out
}

/// Bytes of the escape sequence at the start of `text`; zero for a bracket that starts none.
fn escape_length(text: &str) -> usize {
    let mut chars = text.char_indices();
    let body = match chars.next() {
        Some((_, '\u{9b}')) => return '\u{9b}'.len_utf8() + control_length(&text['\u{9b}'.len_utf8()..]).unwrap_or(0),
        Some((_, '[')) => {
            // A lost escape character leaves `[0m` or `[K`; `[  12.3]` is something else.
            let length = text[1..].find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(text.len() - 1);
            let orphan = text[1 + length..].starts_with(['m', 'K']);
            return if orphan { length + 2 } else { 0 };
        }
        _ => &text[1..],
    };
    match body.chars().next() {
        Some('[') => 2 + control_length(&body[1..]).unwrap_or(0),
        Some(']') => {
            let end = body.find(['\u{7}', '\u{1b}']).unwrap_or(body.len());
            let bell = usize::from(body[end..].starts_with('\u{7}'));
            1 + end + bell
        }
        Some('(' | ')') => 2 + body[1..].chars().next().map_or(0, char::len_utf8),
        Some(other) if other.is_ascii_graphic() => 2,
        _ => 1,
    }
}

/// Length of the parameters and the final character of a control sequence.
fn control_length(text: &str) -> Option<usize> {
    let end = text.find(|c: char| !(' '..='?').contains(&c))?;
    text[end..].starts_with(|c: char| ('@'..='~').contains(&c)).then_some(end + 1)
}

/// HTML entities that logs on web pages have, and their characters.
const ENTITIES: [(&str, &str); 14] = [
    ("&micro;", "µ"),
    ("&mu;", "µ"),
    ("&nbsp;", " "),
    ("&ensp;", " "),
    ("&emsp;", " "),
    ("&thinsp;", " "),
    ("&gt;", ">"),
    ("&lt;", "<"),
    ("&quot;", "\""),
    ("&apos;", "'"),
    ("&minus;", "-"),
    ("&tab;", "\t"),
    ("&amp;", "&"),
    ("&middot;", "·"),
];

/// Named and numeric character references; twice, since forums escape what is escaped already.
fn decode_entities(text: &str) -> String {
    decode_entities_once(&decode_entities_once(text))
}

fn decode_entities_once(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.bytes().take(12).position(|byte| byte == b';').map(|end| end + 1);
        let entity = end.map(|end| &rest[..end]);
        let decoded = entity.and_then(|entity| {
            let named = ENTITIES.iter().find(|(name, _)| name.eq_ignore_ascii_case(entity));
            named.map(|(_, text)| (*text).to_owned()).or_else(|| numeric_entity(entity).map(String::from))
        });
        match (decoded, end) {
            (Some(text), Some(end)) => {
                out.push_str(&text);
                rest = &rest[end..];
            }
            _ => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

fn numeric_entity(entity: &str) -> Option<char> {
    let code = entity.strip_prefix("&#")?.strip_suffix(';')?;
    let value = match code.strip_prefix(['x', 'X']) {
        Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16).ok()?,
        None => code.parse().ok()?,
    };
    char::from_u32(value)
}

/// HTML tags that end a line.
const BREAKING_TAGS: [&str; 6] = ["br", "/tr", "/p", "/div", "/pre", "/li"];
/// HTML tags that only mark text up.
const OTHER_TAGS: [&str; 21] = [
    "a",
    "b",
    "blockquote",
    "code",
    "div",
    "em",
    "font",
    "i",
    "kbd",
    "li",
    "p",
    "pre",
    "samp",
    "span",
    "strong",
    "table",
    "tbody",
    "td",
    "th",
    "tr",
    "tt",
];

/// Tags that end a line become carriage returns, other known ones spaces; `<device>` stays.
fn replace_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.bytes().take(200).position(|byte| byte == b'>');
        let name = end.map(|end| rest[1..end].split([' ', '\t']).next().unwrap_or_default().to_ascii_lowercase());
        let name = name.as_deref().map(|name| if name == "br/" { "br" } else { name });
        let replacement = match name {
            Some(name) if BREAKING_TAGS.contains(&name) => Some('\r'),
            Some(name) if OTHER_TAGS.contains(&name.trim_start_matches('/')) => Some(' '),
            _ => None,
        };
        match (replacement, end) {
            (Some(replacement), Some(end)) => {
                out.push(replacement);
                rest = &rest[end + 1..];
            }
            _ => {
                out.push('<');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// `\u00b5` and `\t` of strings in source or JSON, and TeX's `$\mu$`; a line break of such a string breaks the line.
fn decode_backslashes(text: &str) -> String {
    let mut out = text.to_owned();
    for (spelling, plain) in
        [("\\u00b5", "µ"), ("\\u00B5", "µ"), ("\\u03bc", "µ"), ("\\u03BC", "µ"), ("$\\mu$", "µ"), ("\\t", "\t")]
    {
        out = out.replace(spelling, plain);
    }
    if out.contains("\\n") && out.contains('\t') { out.replace("\\n", "\r") } else { out }
}

/// `^C` and its like, as a terminal echoes them: gone inside a figure or a word of a row, a space elsewhere.
fn caret_notation(text: &str) -> String {
    if !text.contains('^') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.char_indices().peekable();
    while let Some((_, c)) = chars.next() {
        let control = c == '^' && chars.peek().is_some_and(|(_, next)| matches!(next, '@'..='_' | '?'));
        if !control {
            out.push(c);
            continue;
        }
        let Some((at, letter)) = chars.next() else { break };
        let behind = &text[at + letter.len_utf8()..];
        let behind = &behind[..behind.find(|c: char| c.is_whitespace() || c == '^').unwrap_or(behind.len())];
        let before = out.rfind(char::is_whitespace).map_or(out.as_str(), |space| out[space..].trim_start());
        if !is_part_of_a_row(&format!("{before}{behind}")) {
            out.push(' ');
        }
    }
    out
}

/// A figure with or without its unit, or a word that rows have.
fn is_part_of_a_row(text: &str) -> bool {
    /// Words that rows have.
    const WORDS: [&str; 6] = ["align", "pre", "on", "post", "diff", "write"];
    /// Units of their figures.
    const UNITS: [&str; 15] =
        ["", "n", "ns", "us", "µs", "µ", "ms", "s", "B", "KiB", "MiB", "GiB", "K/s", "M/s", "G/s"];
    let figure = text.trim_start_matches('-');
    let digits = figure.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ',')).unwrap_or(figure.len());
    WORDS.contains(&text) || (digits > 0 && UNITS.contains(&&figure[digits..]))
}

/// Text that a mail program encoded as quoted-printable (RFC 2045, 6.7), decoded: there an equals sign stands only
/// before two hexadecimal digits or at the end of a line that goes on in the next.
pub(super) fn unquoted_printable(text: &str) -> Cow<'_, str> {
    /// Fewest signs, and the share of them, that must be codes of this kind.
    const FEWEST: usize = 4;
    let bytes = text.as_bytes();
    let code = |at: usize| -> Option<u8> {
        let digit = |at: usize| bytes.get(at).and_then(|byte| (*byte as char).to_digit(16));
        Some((digit(at + 1)? * 16 + digit(at + 2)?) as u8)
    };
    let soft = |at: usize| match bytes.get(at + 1) {
        Some(b'\n') => Some(2),
        Some(b'\r') if bytes.get(at + 2) == Some(&b'\n') => Some(3),
        _ => None,
    };
    let signs = || bytes.iter().enumerate().filter(|(_, byte)| **byte == b'=').map(|(at, _)| at);
    let codes = signs().filter(|at| code(*at).is_some()).count();
    let coded = codes + signs().filter(|at| soft(*at).is_some()).count();
    // `--count=10` looks like a code as well, an encoded equals sign or µ like nothing else.
    let sure = ["=3D", "=C2=B5", "=CE=BC"].iter().any(|code| text.contains(code));
    if !sure || codes < FEWEST || coded * 10 < signs().count() * 9 {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let skipped = if *byte == b'=' { soft(at) } else { None };
        match (skipped, if *byte == b'=' { code(at) } else { None }) {
            (Some(length), _) => at += length,
            (None, Some(decoded)) => {
                out.push(decoded);
                at += 3;
            }
            (None, None) => {
                out.push(*byte);
                at += 1;
            }
        }
    }
    Cow::Owned(String::from_utf8_lossy(&out).into_owned())
}

/// A line without what chat, `grep -n`, mail and system logs put before it: `10:12 < arnd> `, `Arnd> `,
/// `card.log:12:`, `Feb  3 10:02:03 box bench[512]: `.
pub(super) fn without_prefix(line: &str) -> &str {
    let trimmed = line.trim_start();
    let rest =
        without_nick(without_clock(trimmed)).or_else(|| without_file(trimmed)).or_else(|| without_syslog(trimmed));
    rest.unwrap_or(line)
}

/// Behind `10:12 ` or `[10:12:33] `.
fn without_clock(line: &str) -> &str {
    let end = line.find(char::is_whitespace).unwrap_or(0);
    let clock = line[..end].trim_matches(['[', ']']);
    let is_clock = clock.contains(':') && clock.chars().all(|c| c.is_ascii_digit() || c == ':');
    if is_clock { line[end..].trim_start() } else { line }
}

/// Behind `< arnd> `, `<arnd> ` or `Arnd> `.
fn without_nick(line: &str) -> Option<&str> {
    let end = line.find('>').filter(|end| *end <= 32)?;
    let nick = line[..end].trim_start_matches('<').trim_start_matches([' ', '@', '+']);
    let is_nick = nick.starts_with(|c: char| c.is_alphabetic())
        && nick.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '|'));
    let rest = line[end + 1..].strip_prefix(' ')?;
    is_nick.then_some(rest)
}

/// Behind `card.log:12:`.
fn without_file(line: &str) -> Option<&str> {
    let (file, rest) = line.split_once(':')?;
    let (number, rest) = rest.split_once(':')?;
    let is_file =
        file.len() <= 128 && file.contains(|c: char| c.is_alphabetic()) && !file.contains(char::is_whitespace);
    let is_number = !number.is_empty() && number.len() <= 7 && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_file && is_number && file.contains('.')).then_some(rest)
}

/// Behind `Feb  3 10:02:03 box bench[512]: `.
fn without_syslog(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    let (month, day, clock) = (words.next()?, words.next()?, words.next()?);
    let is_date = month.len() == 3 && month.starts_with(|c: char| c.is_ascii_uppercase()) && day.parse::<u8>().is_ok();
    let is_clock = clock.len() == 8 && clock.chars().all(|c| c.is_ascii_digit() || c == ':');
    let end = line.find(": ").filter(|end| *end <= 80)?;
    let program = line[..end].split_whitespace().count() == 5;
    (is_date && is_clock && program).then(|| &line[end + 2..])
}

/// Control characters out, backspaces obeyed, exotic spaces and dashes made plain.
fn plain_characters(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\t' => out.push('\t'),
            '\u{8}' | '\u{7f}' => {
                out.pop();
            }
            '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}' | '\u{feff}' => {}
            // Word processors make one dash of two hyphens; before a digit it is a minus sign.
            '–' | '—' if chars.peek().is_some_and(|next| next.is_ascii_alphabetic()) => out.push_str("--"),
            '−' | '–' | '—' | '‐' | '‑' => out.push('-'),
            '“' | '”' | '„' => out.push('"'),
            '‘' | '’' => out.push('\''),
            '\u{ff01}'..='\u{ff5e}' => out.extend(char::from_u32(c as u32 - 0xfee0)),
            _ if c.is_control() => {}
            _ if c.is_whitespace() => out.push(' '),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_damaged_lines() {
        let check = |line: &str, expect: &[&str]| assert_eq!(pieces(line), expect, "{line:?}");
        check("align 4096\tpre 1ms", &["align 4096\tpre 1ms"]);
        check("align 4096\r", &["align 4096"]);
        check("\u{1b}[0;32malign\u{1b}[0m 4096\u{1b}[K", &["align 4096"]);
        check("^[[1malign^[[0m 4096", &["align 4096"]);
        check("[0malign[K 4096", &["align 4096"]);
        check("[  12.3] align 4096", &["[  12.3] align 4096"]);
        check("\u{1b}]0;root@box: ~\u{7}root@box:~# ls", &["root@box:~# ls"]);
        check("pre 69^C4us", &["pre 694us"]);
        check("4us^Croot@box", &["4us root@box"]);
        check("4\u{8}5us", &["5us"]);
        check("&gt; 5&micro;s &#181;s &#xb5;s &amp;micro;s", &["> 5µs µs µs µs"]);
        check("a<br>b<br />c", &["a", "b", "c"]);
        check("<td>align</td> <device> 1 < 2", &[" align  <device> 1 < 2"]);
        check("a\u{a0}b\u{3000}c\u{2009}d\u{200b}e", &["a b c de"]);
        check("−5 –open-au-nr 3—4", &["-5 --open-au-nr 3-4"]);
        check("a\0b", &["ab"]);
        check("4MiB", &["4MiB"]);
        check("\u{1b}", &[]);
        check("\u{1b}[", &[]);
        check("&#x110000; &; &", &["&#x110000; &; &"]);
    }

    #[test]
    fn encodings() {
        let check = |bytes: &[u8], expect: &str| assert_eq!(decode(bytes, 1 << 20), expect);
        check(b"\xff\xfea\0b\0", "ab");
        check(b"\xfe\xff\0a\0b", "ab");
        check(b"5\xb5s", "5\u{FFFD}s");
        check(b"", "");
        assert_eq!(decode(b"abcdef", 3), "abc");
    }

    #[test]
    fn line_numbers() {
        assert_eq!(lines("a\nb\r\nc").collect::<Vec<_>>(), [(1, "a"), (2, "b\r"), (3, "c")]);
        assert_eq!(lines("a\rb").collect::<Vec<_>>(), [(1, "a"), (2, "b")]);
        assert_eq!(lines(&"µ".repeat(MAX_LINE)).next().map(|(_, line)| line.len()), Some(MAX_LINE));
    }
}
