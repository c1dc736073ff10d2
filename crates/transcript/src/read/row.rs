//! What a row of a table looks like.

use super::figure::{self, TimeFigure, TimeUnit};
use super::lexer::{Kind, Lexeme, lex};
use flashscope_model::Direction;
use flashscope_model::observation::Printed;
use flashscope_units::{ByteRate, Bytes};

/// One row, or a part of one.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Row {
    /// `align 4096 pre … on … post … diff …`, any of the four possibly missing.
    Align { direction: Direction, align: Bytes, fields: AlignFields },
    /// `4MiB 10.1M/s …`.
    Rates(RateRow),
    /// The rest of a row of rates that was wrapped.
    RatesRest(Vec<Printed<ByteRate>>),
    /// `512 bytes: min … avg … max …: 1.25414 MB/s`; the rate with its quantum.
    Interval { size: Bytes, fields: [Option<TimeFigure>; 3], rate: Option<(f64, f64)> },
    /// `38.4339 MB/s, 62.2us access time`.
    IntervalSummary,
    /// `bytes 512, time 408248 overhead …`: nanoseconds.
    IntervalTime { size: Bytes, nanos: u64 },
    /// Two numbers: position in MiB and time in milliseconds of a scatter plot.
    Pair { position: f64, millis: f64, original: bool },
}

/// `pre`, `on`, `post`, `diff`.
pub(super) type AlignFields = [Option<TimeFigure>; 4];

/// A row of rates.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RateRow {
    pub(super) block: Bytes,
    pub(super) cells: Vec<Printed<ByteRate>>,
    /// Spelt as the original does, with nothing else on the line.
    pub(super) original: bool,
    /// Something unreadable stands behind the last cell.
    pub(super) broken: bool,
}

/// The rows on a line: mostly none or one, more where line breaks were lost.
pub(super) fn rows(line: &str) -> Vec<Row> {
    let spaced = without_lost_tabs(line);
    let line = spaced.as_deref().unwrap_or(line);
    let lexemes = lex(line);
    let aligns = align_rows(line, &lexemes);
    if !aligns.is_empty() {
        return aligns;
    }
    interval(line, &lexemes)
        .or_else(|| interval_time(&lexemes))
        .or_else(|| rates(line, &lexemes))
        .or_else(|| pair(&lexemes))
        .into_iter()
        .collect()
}

/// The four figures of a row of the align test.
const ALIGN_KEYS: [&str; 4] = ["pre", "on", "post", "diff"];

fn align_rows(line: &str, lexemes: &[Lexeme<'_>]) -> Vec<Row> {
    let starts: Vec<usize> = (0..lexemes.len()).filter(|&at| lexemes[at].is_word("align")).collect();
    let mut rows = Vec::new();
    for (nth, &start) in starts.iter().enumerate() {
        let end = starts.get(nth + 1).copied().unwrap_or(lexemes.len());
        let Some((align, next)) = size_after(lexemes, start + 1) else { continue };
        let fields = align_fields(line, &lexemes[next..end]);
        // A row whose figures are all gone says nothing; and `align 4096` is said by other tools too.
        if fields.iter().all(Option::is_none) {
            continue;
        }
        let before =
            lexemes[..start].iter().rfind(|lexeme| !['-', ';', ',', '|'].iter().any(|mark| lexeme.is_mark(*mark)));
        let write = before.is_some_and(|word| word.is_word("write"));
        let direction = if write { Direction::Write } else { Direction::Read };
        rows.push(Row::Align { direction, align, fields });
    }
    rows
}

/// `align 4096pre 691µson 937µspost …`, which has lost its tabs, with spaces in their places.
fn without_lost_tabs(line: &str) -> Option<String> {
    let mut out = String::new();
    let mut from = 0;
    for (at, c) in line.char_indices() {
        let Some(key) = ALIGN_KEYS.iter().find(|key| line[at..].starts_with(**key)).filter(|_| c.is_ascii()) else {
            continue;
        };
        let glued =
            line[..at].ends_with(|c: char| c.is_ascii_digit() || matches!(c, 's' | 'n' | 'µ' | 'μ' | 'u' | 'm'));
        let behind = line[at + key.len()..].trim_start_matches([' ', '-']);
        // A word in which the letters happen to follow each other has no figure behind it.
        let figure = behind.starts_with(|c: char| c.is_ascii_digit()) && line[at + key.len()..].starts_with(' ');
        if glued && figure && line[..at].contains("align") {
            out.push_str(&line[from..at]);
            out.push(' ');
            from = at;
        }
    }
    (from > 0).then(|| out + &line[from..])
}

fn align_fields(line: &str, lexemes: &[Lexeme<'_>]) -> AlignFields {
    let mut fields = [None; 4];
    for (at, lexeme) in lexemes.iter().enumerate() {
        let Some(key) = ALIGN_KEYS.iter().position(|key| lexeme.is_word(key)) else { continue };
        let value = skip_marks(lexemes, at + 1);
        if fields[key].is_none() {
            // Only a difference is ever long enough to lose its unit.
            let time = figure::time(line, lexemes, value).map(|(time, _)| time);
            fields[key] = time.filter(|time| key == 3 || time.unit != TimeUnit::CutOff);
        }
    }
    fields
}

/// `4MiB 10.1M/s 32.2M/s …`, or only rates.
fn rates(line: &str, lexemes: &[Lexeme<'_>]) -> Option<Row> {
    let start = skip_prefix(line, lexemes);
    let (block, first) = match labelled_size(line, lexemes, start) {
        Some((block, next)) => (Some(block), skip_marks(lexemes, next)),
        None => (None, start),
    };
    let mut cells = Vec::new();
    let mut at = first;
    let mut original = start == 0;
    while let Some((cell, used, as_original)) = figure::rate(line, lexemes, at) {
        cells.push(cell);
        original &= as_original;
        at += used;
        while lexemes.get(at).is_some_and(|lexeme| ['|', ',', ';'].iter().any(|mark| lexeme.is_mark(*mark))) {
            at += 1;
        }
    }
    let rest = lexemes.get(at).map_or("", |lexeme| &line[lexeme.start..]);
    let block = match block {
        Some(block) if !cells.is_empty() => block,
        None if !cells.is_empty() && rest.is_empty() && original => return Some(Row::RatesRest(cells)),
        _ => return None,
    };
    let rest = if is_comment(rest) { "" } else { rest };
    let broken = !rest.is_empty();
    if broken && !is_noise(rest) {
        return None;
    }
    Some(Row::Rates(RateRow { block, cells, original: original && !broken, broken }))
}

/// What somebody wrote behind a row, with a mark before it.
fn is_comment(rest: &str) -> bool {
    ["<-", "<=", "←", "//", "# "].iter().any(|mark| rest.starts_with(mark)) && !rest.ends_with(['#', '$'])
}

/// Behind a row: a prompt, marks, or a figure without its unit; but no sentence.
fn is_noise(rest: &str) -> bool {
    let words = rest.split_whitespace().filter(|word| word.chars().filter(|c| c.is_alphabetic()).count() >= 2).count();
    words == 0 || rest.contains(['#', '$', '~']) || (words == 1 && rest.contains('@'))
}

/// Quoting, list marks, line numbers, time stamps and prompts before a row.
fn skip_prefix(line: &str, lexemes: &[Lexeme<'_>]) -> usize {
    let starts_row =
        |at: usize| labelled_size(line, lexemes, at).is_some() || figure::rate(line, lexemes, at).is_some();
    let mut at = 0;
    for _ in 0..MAX_PREFIX {
        let Some(lexeme) = lexemes.get(at).filter(|_| !starts_row(at)) else { break };
        let rest = &line[lexeme.start..];
        let word = &rest[..rest.find(char::is_whitespace).unwrap_or(rest.len())];
        if !is_prefix(word) {
            break;
        }
        let end = lexeme.start + word.len();
        at += lexemes[at..].iter().take_while(|lexeme| lexeme.start < end).count();
    }
    // What touches the row: `>4MiB`, `12:4MiB`.
    while let Some(lexeme) = lexemes.get(at).filter(|_| !starts_row(at)) {
        let numbered = lexemes.get(at + 1).is_some_and(|next| next.is_mark(':') && next.start == lexeme.end());
        match lexeme.kind {
            Kind::Mark => at += 1,
            Kind::Number if numbered => at += 2,
            _ => break,
        }
    }
    at
}

/// Words before a row beyond which it is a sentence.
const MAX_PREFIX: usize = 7;

/// Marks, a line number, a part of a date or of a time, or a prompt.
fn is_prefix(word: &str) -> bool {
    let stamp = word.chars().all(|c| c.is_ascii_digit() || c.is_ascii_punctuation() || matches!(c, 'T' | 'Z'));
    let name = word.len() == 3 && word.starts_with(|c: char| c.is_ascii_uppercase()) && word.is_ascii();
    stamp || name || word.ends_with(['#', '$']) || word.contains('@')
}

/// `4MiB`, `512KiB`, `512B`, `1.5MiB`, also with a space: a size that labels a row.
fn labelled_size(line: &str, lexemes: &[Lexeme<'_>], at: usize) -> Option<(Bytes, usize)> {
    let number = lexemes.get(at).filter(|lexeme| lexeme.kind == Kind::Number)?;
    let unit = lexemes.get(at + 1).filter(|lexeme| lexeme.kind == Kind::Word)?;
    // `4 MiB/s` is a rate.
    if line[unit.end()..].starts_with('/') || unit.start > number.end() + 1 {
        return None;
    }
    let scale = match unit.text {
        "B" => 1u64,
        "KiB" | "kiB" | "KB" | "kB" | "Kib" | "KIB" => 1 << 10,
        "MiB" | "MB" | "Mib" | "MIB" => 1 << 20,
        "GiB" | "GB" | "Gib" | "GIB" => 1 << 30,
        _ => return None,
    };
    let size = figure::decimal(number.text)? * scale as f64;
    // A fraction of three digits of a binary unit is a rounded size.
    (1.0..2f64.powi(50)).contains(&size).then(|| (Bytes((size / 512.0).round().max(1.0) as u64 * 512), at + 2))
}

/// `512 bytes: min 408us avg 493us max 924us: 1.25414 MB/s` and the summary below it.
fn interval(line: &str, lexemes: &[Lexeme<'_>]) -> Option<Row> {
    if let Some(access) = lexemes.iter().position(|lexeme| lexeme.is_word("access")) {
        let time = lexemes.get(access + 1).is_some_and(|lexeme| lexeme.is_word("time"));
        let rate = lexemes[..access].windows(3).any(|w| w[0].is_word("MB") && w[1].is_mark('/') && w[2].is_word("s"));
        return (time && rate).then_some(Row::IntervalSummary);
    }
    let bytes = lexemes.iter().position(|lexeme| lexeme.is_word("bytes"))?;
    let size = lexemes[..bytes].last()?.integer().filter(|size| (1..=1 << 40).contains(size))?;
    let keys = ["min", "avg", "max"];
    let first_key = skip_marks(lexemes, bytes + 1);
    lexemes.get(first_key).filter(|lexeme| keys.iter().any(|key| lexeme.is_word(key)))?;
    let mut fields = [None; 3];
    let mut end = first_key;
    for (at, lexeme) in lexemes.iter().enumerate().skip(first_key) {
        let Some(key) = keys.iter().position(|key| lexeme.is_word(key)) else { continue };
        let value = skip_marks(lexemes, at + 1);
        if let Some((time, used)) = figure::time(line, lexemes, value).filter(|(time, _)| time.unit != TimeUnit::CutOff)
        {
            fields[key] = fields[key].or(Some(time));
            end = value + used;
        }
    }
    if fields.iter().all(Option::is_none) {
        return None;
    }
    Some(Row::Interval { size: Bytes(size), fields, rate: trailing_rate(lexemes, end) })
}

/// `: 1.25414 MB/s`: bytes per second of the smallest time, six digits.
fn trailing_rate(lexemes: &[Lexeme<'_>], at: usize) -> Option<(f64, f64)> {
    let number = lexemes.get(skip_marks(lexemes, at)).filter(|lexeme| lexeme.kind == Kind::Number)?;
    let after: Vec<_> = lexemes.iter().skip_while(|lexeme| lexeme.start <= number.start).take(3).collect();
    let unit = matches!(after[..], [mb, slash, s] if mb.is_word("MB") && slash.is_mark('/') && s.is_word("s"));
    let value = figure::decimal(number.text).filter(|value| unit && *value > 0.0)?;
    let quantum = figure::last_digit(number.text).min(10f64.powi(value.log10().floor() as i32 - 5));
    Some((value * 1e6, quantum * 1e6))
}

/// `bytes 512, time 408248 overhead 332736`.
fn interval_time(lexemes: &[Lexeme<'_>]) -> Option<Row> {
    let at = lexemes.iter().position(|lexeme| lexeme.is_word("bytes"))?;
    let size = lexemes.get(at + 1)?.integer().filter(|size| (1..=1 << 40).contains(size))?;
    let time = skip_marks(lexemes, at + 2);
    lexemes.get(time).filter(|lexeme| lexeme.is_word("time"))?;
    let nanos = lexemes.get(time + 1)?.integer().filter(|nanos| (1..1 << 50).contains(nanos))?;
    lexemes.get(time + 2).filter(|lexeme| lexeme.is_word("overhead"))?;
    Some(Row::IntervalTime { size: Bytes(size), nanos })
}

/// Two numbers and nothing else.
fn pair(lexemes: &[Lexeme<'_>]) -> Option<Row> {
    let [position, millis] = lexemes else { return None };
    if position.kind != Kind::Number || millis.kind != Kind::Number {
        return None;
    }
    let six = |lexeme: &Lexeme<'_>| lexeme.text.split_once('.').is_some_and(|(_, decimals)| decimals.len() == 6);
    let original = six(position) && six(millis);
    let (position, millis) = (figure::decimal(position.text)?, figure::decimal(millis.text)?);
    let sane = (0.0..1e9).contains(&position) && millis > 0.0 && millis < 1e9;
    sane.then_some(Row::Pair { position, millis, original })
}

/// A size in bytes behind a keyword, also with a unit.
fn size_after(lexemes: &[Lexeme<'_>], at: usize) -> Option<(Bytes, usize)> {
    let at = skip_marks(lexemes, at);
    let number = lexemes.get(at)?;
    let unit = lexemes.get(at + 1).filter(|unit| unit.kind == Kind::Word);
    let (scale, used) = match unit.map(|unit| unit.text) {
        Some("B" | "bytes") => (1u64, 2),
        Some("KiB") => (1 << 10, 2),
        Some("MiB") => (1 << 20, 2),
        Some("GiB") => (1 << 30, 2),
        _ => (1, 1),
    };
    let size = number.integer()?.checked_mul(scale)?;
    (1..=1 << 50).contains(&size).then_some((Bytes(size), at + used))
}

fn skip_marks(lexemes: &[Lexeme<'_>], mut at: usize) -> usize {
    while lexemes.get(at).is_some_and(|lexeme| [':', '=', '|', ',', ';'].iter().any(|mark| lexeme.is_mark(*mark))) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn align_row(line: &str) -> Option<(Direction, u64, [Option<f64>; 4])> {
        match rows(line).into_iter().next() {
            Some(Row::Align { direction, align, fields }) => Some((
                direction,
                align.0,
                fields.map(|field| field.map(|time| (time.value * time.unit.nanos()).round())),
            )),
            _ => None,
        }
    }

    #[test]
    fn align_rows_in_disguise() {
        let whole = [Some(694e3), Some(937e3), Some(689e3), Some(246e3)];
        for line in [
            "align 4194304\tpre 694us\ton 937us\tpost 689us\tdiff 246us",
            "align 4194304   pre 694µs   on 937µs post 689µs diff 246µs",
            "> > align 4194304 pre 694us on 937us post 689us diff 246us",
            "[   12.345678] align 4194304 pre 694us on 937us post 689us diff 246us",
            " 17: align 4194304 pre 694us on 937us post 689us diff 246us",
            "17\talign 4194304 pre 694us on 937us post 689us diff 246us",
            "| align 4,194,304 | pre 694us | on 937us | post 689us | diff 246us |",
            "align: 4 MiB, pre=694us, on=937us, post=689us, diff=246us",
            "align 4194304 pre 694us on 937us root@box:~# post 689us diff 246us",
            "align 4194304 pre 694 us on 937 us post 689 us diff 246 us",
        ] {
            assert_eq!(align_row(line), Some((Direction::Read, 4 << 20, whole)), "{line}");
        }
        let check = |line: &str, expect| assert_eq!(align_row(line), expect, "{line}");
        check(
            "write align 8192 pre 121ms on 7.76ms post 116ms diff -110845",
            Some((Direction::Write, 8192, [Some(121e6), Some(7.76e6), Some(116e6), Some(-110845.0)])),
        );
        check(
            "align 1048576 pre 286µs on 304µs post 286µs di",
            Some((Direction::Read, 1 << 20, [Some(286e3), Some(304e3), Some(286e3), None])),
        );
        check("align 4096 pre 69", None);
        check("align 4096 on 735us diff 1234567", Some((Direction::Read, 4096, [None, Some(735e3), None, None])));
        check("align 4096", None);
        check("please align 2 pre-cut boards", None);
        check("align 0 pre 5us", None);
    }

    #[test]
    fn two_rows_on_a_line() {
        assert_eq!(rows("align 8192 pre 1us on 2us post 3us diff 4us align 4096 pre 1us on 2us").len(), 2);
    }

    #[test]
    fn rate_rows() {
        let check = |line: &str, expect: Option<(u64, &[f64], bool)>| {
            let got = rows(line).into_iter().find_map(|row| match row {
                Row::Rates(row) => Some((
                    row.block.0,
                    row.cells.iter().map(|cell| cell.value.0.round()).collect::<Vec<_>>(),
                    row.original,
                )),
                _ => None,
            });
            let expect = expect.map(|(block, cells, original)| (block, cells.to_vec(), original));
            assert_eq!(got, expect, "{line}");
        };
        check("4MiB    4.11M/s  8.03M/s  ", Some((4 << 20, &[4.11e6, 8.03e6], true)));
        check("512B 264K/s", Some((512, &[264e3], true)));
        check("1.5MiB 1.736G/", Some((3 << 19, &[1.736e9], true)));
        check("> 4MiB 10M/s", Some((4 << 20, &[10e6], false)));
        check("12: 4MiB 10M/s", Some((4 << 20, &[10e6], false)));
        check("12 4MiB 10M/s", Some((4 << 20, &[10e6], false)));
        check("[  12.3] 4MiB 10M/s", Some((4 << 20, &[10e6], false)));
        check("| 4MiB | 10M/s | 11M/s |", Some((4 << 20, &[10e6, 11e6], false)));
        check("12:4MiB 10M/s", Some((4 << 20, &[10e6], false)));
        check(">4MiB 10M/s", Some((4 << 20, &[10e6], false)));
        check("10:22:33 4MiB 10M/s", Some((4 << 20, &[10e6], false)));
        check("2011-03-04T10:22:33Z 4MiB 10M/s", Some((4 << 20, &[10e6], false)));
        check("Mar  4 10:22:33 4 MiB 10M/s", Some((4 << 20, &[10e6], false)));
        check("[root@box ~]# 4MiB 10M/s", Some((4 << 20, &[10e6], false)));
        check("root@box:~# 4MiB 10M/s", Some((4 << 20, &[10e6], false)));
        check("4MiB 10M/s root@box:~#", Some((4 << 20, &[10e6], false)));
        check("4MiB 10M/s 11.", Some((4 << 20, &[10e6], false)));
        check("4MiB 10M/s is what I get here", None);
        check("reads 4MiB 10M/s", None);
        check("4MiB", None);
        check("4 MiB/s 10M/s", None);
        check("104857600 bytes (105 MB, 100 MiB) copied, 6.2 s, 16.9 MB/s", None);
        check("   READ: bw=10.1MiB/s (10.6MB/s), 10.1MiB/s-10.1MiB/s", None);
        check(" Timing buffered disk reads:  64 MB in  3.06 seconds =  20.9 MB/sec", None);
    }

    #[test]
    fn interval_rows() {
        let row = &rows("512 bytes: min 408us avg 493us max 1.02ms: 1.25414 MB/s")[0];
        let Row::Interval { size: Bytes(512), fields, rate: Some((rate, quantum)) } = row else { panic!("{row:?}") };
        assert_eq!(fields.map(|field| field.unwrap().value), [408.0, 493.0, 1.02]);
        assert!((rate - 1.25414e6).abs() < 1e-3 && (quantum - 10.0).abs() < 1e-6, "{rate} {quantum}");
        assert_eq!(rows("38.4339 MB/s, 62.2us access time"), [Row::IntervalSummary]);
        assert_eq!(rows("-nan MB/s, -922337 access time"), [Row::IntervalSummary]);
        let time = Row::IntervalTime { size: Bytes(512), nanos: 408_248 };
        assert_eq!(rows("bytes 512, time 408248 overhead 332736"), [time]);
        for line in [
            "64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=0.5 ms",
            "512 bytes: done",
            "slat (usec): min=4, max=20, avg=5.1",
        ] {
            assert_eq!(rows(line), [], "{line}");
        }
    }

    #[test]
    fn pairs() {
        assert_eq!(rows("0.015625\t0.039529"), [Row::Pair { position: 0.015625, millis: 0.039529, original: true }]);
        assert_eq!(rows("-1 2"), []);
        assert_eq!(rows("1 2 3"), []);
    }
}
