//! Text from outside made safe for the form that it goes into: names of devices and files, logs, records of others.
//!
//! A card can be named like an escape sequence, a file like a formula, and a record can be written by anybody. One function
//! per form; HTML and spreadsheets escape by themselves. What a terminal would act on, or what reverses the order of what is
//! read, is shown as `\u001b`: an escape that JSON and TOML know as well, so that a whole page of either still says the same.

use std::borrow::Cow;

/// The escape sequences of our own paint: bold, dim, green, yellow, and their end.
const PAINTS: [&str; 5] = ["\x1b[1m", "\x1b[2m", "\x1b[32m", "\x1b[33m", "\x1b[0m"];

/// Whether a character is acted on rather than shown: C0 and C1 controls, what changes the direction of writing (Unicode
/// Technical Report 36, section 2.9), line and paragraph separators, and what has no width at all.
fn acts(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(letter, '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

fn shown(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(|letter| acts(letter) && !stays(letter)) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match u32::from(letter) {
            _ if !acts(letter) || stays(letter) => safe.push(letter),
            code @ ..=0xffff => safe.push_str(&format!("\\u{code:04x}")),
            code => safe.push_str(&format!("\\U{code:08x}")),
        }
    }
    Cow::Owned(safe)
}

/// A name or a sentence that stands within a line.
pub fn line(text: &str) -> Cow<'_, str> {
    shown(text, |_| false)
}

/// Text of several lines.
pub fn page(text: &str) -> Cow<'_, str> {
    shown(text, |letter| letter == '\n' || letter == '\t')
}

/// Text of several lines, in which our own paint stays.
pub fn painted(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\x1b') {
        safe.push_str(&page(&rest[..at]));
        let paint = PAINTS.iter().find(|paint| rest[at..].starts_with(**paint)).copied();
        let kept = paint.unwrap_or("\x1b");
        safe.push_str(paint.unwrap_or("\\u001b"));
        rest = &rest[at + kept.len()..];
    }
    safe.push_str(&page(rest));
    safe
}

/// Text within a line of Markdown: no markup, no HTML, no link.
pub fn markdown(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + 16);
    for letter in line(&text.replace(['\n', '\r'], " ")).chars() {
        match letter {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '\\' | '|' | '*' | '_' | '`' | '[' | ']' | '#' | '!' | '~' => safe.extend(['\\', letter]),
            _ => safe.push(letter),
        }
    }
    safe
}

/// Text within a code span of Markdown, where nothing is markup but what ends it.
pub fn markdown_code(text: &str) -> String {
    line(&text.replace(['\n', '\r'], " ")).replace('`', "'")
}

/// A field of CSV, before it is quoted: a spreadsheet takes what begins like a formula for text (OWASP, CSV injection).
/// Numbers stay what they are.
pub fn csv(field: &str) -> Cow<'_, str> {
    let formula = field.starts_with(['=', '+', '-', '@', '\t', '\r']) && field.parse::<f64>().is_err();
    let safe = page(field);
    if formula { Cow::Owned(format!("'{safe}")) } else { safe }
}

/// Lines of CSV (RFC 4180), each field through [`csv`].
pub(crate) fn csv_lines<'a, R>(rows: impl IntoIterator<Item = R>) -> String
where
    R: IntoIterator<Item = Cow<'a, str>>,
{
    let mut writer = ::csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
    for row in rows {
        let fields: Vec<String> = row.into_iter().map(|field| csv(&field).into_owned()).collect();
        writer.write_record(&fields).expect("memory takes all that is written to it");
    }
    let bytes = writer.into_inner().expect("memory takes all that is written to it");
    String::from_utf8(bytes).expect("fields of text make a text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_acts_on_is_shown() {
        assert_eq!(line("SD08G"), "SD08G");
        assert_eq!(
            line("\x1b[2J\x07\u{9b}31m\u{202e}gpj\u{2066}\n\u{e0041}"),
            "\\u001b[2J\\u0007\\u009b31m\\u202egpj\\u2066\\u000a\\U000e0041"
        );
        assert_eq!(page("a\tb\nc\rd"), "a\tb\nc\\u000dd");
        assert_eq!(line("µ 4 × é 中 −"), "µ 4 × é 中 −");
    }

    #[test]
    fn only_our_own_paint_stays() {
        assert_eq!(
            painted("\x1b[1mSD\x1b[0m \x1b[8mhidden\x1b]0;title\x07"),
            "\x1b[1mSD\x1b[0m \\u001b[8mhidden\\u001b]0;title\\u0007"
        );
    }

    #[test]
    fn a_page_of_json_still_says_the_same() {
        assert_eq!(page("{\"name\": \"a\u{9b}\u{202e}b\"}"), r#"{"name": "a\u009b\u202eb"}"#);
    }

    #[test]
    fn markdown_has_no_markup_html_or_link() {
        let text = "<script> \\<b> [x](javascript:alert(1)) ![i](u) <javascript:x> a|b `c` *d* & \x1b\n# e";
        assert_eq!(
            markdown(text),
            "&lt;script&gt; \\\\&lt;b&gt; \\[x\\](javascript:alert(1)) \\!\\[i\\](u) &lt;javascript:x&gt; a\\|b \\`c\\` \\*d\\* &amp; \\\\u001b \\# e"
        );
        assert_eq!(markdown_code("a`b\nc\x1b"), "a'b c\\u001b");
    }

    #[test]
    fn formulas_are_text_and_numbers_stay_numbers() {
        let rows = [["=1+1", "-5.5", "@x"], ["\tx", "a,\"b\"", "+1e3"], ["-cmd", "\x1b", "é"]];
        let text = csv_lines(rows.map(|row| row.map(Cow::Borrowed)));
        assert_eq!(text, "'=1+1,-5.5,'@x\n'\tx,\"a,\"\"b\"\"\",+1e3\n'-cmd,\\u001b,é\n");
    }
}
