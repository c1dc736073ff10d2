//! Echoed flashbench commands and what they ask for.

use super::arithmetic::evaluate;
use flashscope_model::Order;
use flashscope_units::Bytes;

/// A flashbench command line.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Command {
    pub(super) align: bool,
    /// `-A`, of a private version.
    pub(super) write_align: bool,
    pub(super) open_au: bool,
    pub(super) find_fat: bool,
    pub(super) scatter: bool,
    pub(super) interval: bool,
    pub(super) program: bool,
    pub(super) random: bool,
    pub(super) block: Setting,
    pub(super) erase: Setting,
    pub(super) count: Setting,
    pub(super) open_au_nr: Setting,
    pub(super) offset: Setting,
    pub(super) scatter_span: Setting,
    /// The device, where one is named.
    pub(super) path: Option<String>,
    /// Whether the command goes on in the next line.
    pub(super) open_ended: bool,
}

/// The value of an option.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Setting {
    /// Not given: the tool's default.
    #[default]
    Default,
    /// Given.
    Value(u64),
    /// Given by a loop: one value per table.
    Each(Vec<u64>),
    /// Given, but not to be read (`$N`).
    Unclear,
}

impl Setting {
    /// The value in the table number `turn`, or the default.
    pub(super) fn or(&self, default: Option<u64>, turn: usize) -> Option<u64> {
        match self {
            Setting::Default => default,
            Setting::Value(value) => Some(*value),
            Setting::Each(values) => values.get(turn).copied(),
            Setting::Unclear => None,
        }
    }

    /// Whether a loop gives it.
    pub(super) fn is_each(&self) -> bool {
        matches!(self, Setting::Each(_))
    }

    pub(super) fn bytes_or(&self, default: u64, turn: usize) -> Option<Bytes> {
        self.or(Some(default), turn).filter(|bytes| (1..=1 << 50).contains(bytes)).map(Bytes)
    }
}

impl Command {
    pub(super) fn order(&self) -> Order {
        if self.random { Order::Random } else { Order::InOrder }
    }

    /// The command with the options of its wrapped second line.
    pub(super) fn and(mut self, more: Command) -> Command {
        let Command { align, write_align, open_au, find_fat, scatter, interval, program, random, .. } = more;
        for (mine, theirs) in [
            (&mut self.align, align),
            (&mut self.write_align, write_align),
            (&mut self.open_au, open_au),
            (&mut self.find_fat, find_fat),
            (&mut self.scatter, scatter),
            (&mut self.interval, interval),
            (&mut self.program, program),
            (&mut self.random, random),
        ] {
            *mine |= theirs;
        }
        for (mine, theirs) in [
            (&mut self.block, more.block),
            (&mut self.erase, more.erase),
            (&mut self.count, more.count),
            (&mut self.open_au_nr, more.open_au_nr),
            (&mut self.offset, more.offset),
            (&mut self.scatter_span, more.scatter_span),
        ] {
            if theirs != Setting::Default {
                *mine = theirs;
            }
        }
        self.path = self.path.or(more.path);
        self
    }

    /// Whether it asks for any of the tests.
    pub(super) fn asks_for_a_test(&self) -> bool {
        let Command { align, write_align, open_au, find_fat, scatter, interval, program, .. } = *self;
        align || write_align || open_au || find_fat || scatter || interval || program
    }
}

/// Reads a flashbench command from a line (continuation lines joined by the caller).
pub(super) fn read(line: &str) -> Option<Command> {
    if line.contains("FLASHBENCH") && !line.contains("flashbench") {
        // Of two options that differ in case only, the one that people use.
        return read(&line.to_lowercase().replace(" -o ", " -O "));
    }
    let (before, after) = split_at_tool(line)?;
    let loop_variable = loop_values(before);
    let mut command = Command { open_ended: line.trim_end().ends_with('\\'), ..Command::default() };
    let words = words(after);
    let mut words = words.iter().map(String::as_str).peekable();
    while let Some(word) = words.next() {
        if matches!(word, ";" | "|" | "&&" | "||" | "&" | ">" | ">>" | "\\") || word.starts_with('#') {
            if word == "\\" {
                continue;
            }
            break;
        }
        let value = |text: &str| -> Setting {
            let variable = loop_variable.as_ref().filter(|(name, _)| names_variable(text, name));
            match (variable, evaluate(text)) {
                (Some((_, values)), _) => Setting::Each(values.clone()),
                (None, Some(value)) => Setting::Value(value),
                (None, None) => Setting::Unclear,
            }
        };
        if let Some(long) = word.strip_prefix("--") {
            let (name, attached) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (long, None),
            };
            let Some((option, takes_value)) = long_option(name) else { continue };
            let text = match (takes_value, attached) {
                (false, _) => "",
                (true, Some(text)) => text,
                (true, None) => words.next().unwrap_or_default(),
            };
            command.set(option, value(text));
        } else if let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            short_options(&mut command, letters, &mut words, &value);
        } else if word.starts_with('/') || word.starts_with("sim:") {
            command.path.get_or_insert_with(|| word.trim_end_matches([',', '.', ':', ')']).to_owned());
        }
    }
    (command.asks_for_a_test() || command != Command::default()).then_some(command)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opt {
    Align,
    WriteAlign,
    OpenAu,
    OpenAuNr,
    FindFat,
    Scatter,
    ScatterSpan,
    Interval,
    Program,
    Random,
    Block,
    Erase,
    Count,
    Offset,
    /// Known, and of no concern here.
    Other,
}

/// Long options as the original names them, with whether they take a value.
const LONG: [(&str, Opt, bool); 20] = [
    ("align", Opt::Align, false),
    ("write-align", Opt::WriteAlign, false),
    ("open-au", Opt::OpenAu, false),
    ("open-au-nr", Opt::OpenAuNr, true),
    ("find-fat", Opt::FindFat, false),
    ("fat-nr", Opt::Other, true),
    ("scatter", Opt::Scatter, false),
    ("scatter-order", Opt::Other, true),
    ("scatter-span", Opt::ScatterSpan, true),
    ("interval", Opt::Interval, false),
    ("interval-order", Opt::Other, true),
    ("program", Opt::Program, false),
    ("random", Opt::Random, false),
    ("blocksize", Opt::Block, true),
    ("erasesize", Opt::Erase, true),
    ("count", Opt::Count, true),
    ("offset", Opt::Offset, true),
    ("out", Opt::Other, true),
    ("verbose", Opt::Other, false),
    ("zone", Opt::Other, false),
];

/// An exact name or, as getopt allows, an unambiguous beginning.
fn long_option(name: &str) -> Option<(Opt, bool)> {
    let found = LONG.iter().find(|(long, ..)| *long == name).or_else(|| {
        let mut beginnings = LONG.iter().filter(|(long, ..)| name.len() >= 2 && long.starts_with(name));
        beginnings.next().filter(|_| beginnings.next().is_none())
    })?;
    Some((found.1, found.2))
}

fn short_options<'a>(
    command: &mut Command,
    letters: &'a str,
    words: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>,
    value: &impl Fn(&str) -> Setting,
) {
    for (at, letter) in letters.char_indices() {
        let (option, takes_value) = match letter {
            'a' => (Opt::Align, false),
            'A' => (Opt::WriteAlign, false),
            'O' => (Opt::OpenAu, false),
            '0' => (Opt::OpenAuNr, true),
            'f' => (Opt::FindFat, false),
            's' => (Opt::Scatter, false),
            'i' => (Opt::Interval, false),
            'p' => (Opt::Program, false),
            'r' => (Opt::Random, false),
            'b' => (Opt::Block, true),
            'e' => (Opt::Erase, true),
            'c' => (Opt::Count, true),
            'o' => (Opt::Other, true),
            'v' => (Opt::Other, false),
            _ => return,
        };
        if !takes_value {
            command.set(option, Setting::Default);
            continue;
        }
        let attached = letters[at + 1..].trim_start_matches('=');
        let text = if attached.is_empty() { words.next().unwrap_or_default() } else { attached };
        command.set(option, value(text));
        return;
    }
}

impl Command {
    fn set(&mut self, option: Opt, value: Setting) {
        match option {
            Opt::Align => self.align = true,
            Opt::WriteAlign => self.write_align = true,
            Opt::OpenAu => self.open_au = true,
            Opt::FindFat => self.find_fat = true,
            Opt::Scatter => self.scatter = true,
            Opt::Interval => self.interval = true,
            Opt::Program => self.program = true,
            Opt::Random => self.random = true,
            Opt::OpenAuNr => self.open_au_nr = value,
            Opt::ScatterSpan => self.scatter_span = value,
            Opt::Block => self.block = value,
            Opt::Erase => self.erase = value,
            Opt::Count => self.count = value,
            Opt::Offset => self.offset = value,
            Opt::Other => {}
        }
    }
}

/// What stands before and after the tool's name, which must be a word of a command.
fn split_at_tool(line: &str) -> Option<(&str, &str)> {
    /// The tool's name.
    const NAME: &str = "flashbench";
    let mut from = 0;
    while let Some(found) = line[from..].find(NAME) {
        let (start, end) = (from + found, from + found + NAME.len());
        let before_ok = line[..start].chars().next_back().is_none_or(|c| c.is_whitespace() || "/`'\"(;|&".contains(c));
        let after = line[end..].strip_prefix(".exe").unwrap_or(&line[end..]);
        let after_ok = after.is_empty() || after.starts_with(char::is_whitespace) || after.starts_with(['"', '\'']);
        if before_ok && after_ok && after.contains('-') {
            return Some((&line[..start], after));
        }
        from = end;
    }
    None
}

/// Words as a shell sees them: quotes and arithmetic hold theirs together.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut depth = 0u32;
    let mut quote = None;
    for c in text.chars() {
        match (c, quote) {
            ('"' | '\'', None) => quote = Some(c),
            (_, Some(open)) if c == open => quote = None,
            ('[' | '(', _) if word.ends_with('$') || depth > 0 => {
                depth += 1;
                word.push(c);
            }
            (']' | ')', _) if depth > 0 => {
                depth -= 1;
                word.push(c);
            }
            (';' | '|', None) if depth == 0 => {
                words.extend([std::mem::take(&mut word), c.to_string()]);
            }
            _ if c.is_whitespace() && depth == 0 && quote.is_none() => words.push(std::mem::take(&mut word)),
            _ => word.push(c),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

fn names_variable(text: &str, name: &str) -> bool {
    text.strip_prefix('$').is_some_and(|rest| rest.trim_start_matches('{').trim_end_matches('}') == name)
}

/// The variable of a loop around the command, and its values: `for n in 1 2 3; do …`.
fn loop_values(before: &str) -> Option<(String, Vec<u64>)> {
    let rest = &before[before.rfind("for ")? + 4..];
    let (name, rest) = rest.trim_start().split_once(" in ")?;
    let list = rest.split([';', '\n']).next()?.trim();
    let bounds = |text: &str, separator: &str| -> Option<Vec<u64>> {
        let numbers: Option<Vec<u64>> = text.split(separator).map(|part| part.trim().parse().ok()).collect();
        numbers.filter(|numbers| numbers.iter().all(|number| *number <= 4096))
    };
    let range = |numbers: &[u64]| -> Option<Vec<u64>> {
        match *numbers {
            [last] => Some((1..=last).collect()),
            [first, last] => Some((first..=last).collect()),
            [first, step, last] if step > 0 => Some((first..=last).step_by(step as usize).collect()),
            _ => None,
        }
    };
    let values = if let Some(braces) = list.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        if braces.contains("..") {
            let numbers = bounds(braces, "..")?;
            match *numbers {
                [first, last, step] => range(&[first, step, last])?,
                _ => range(&numbers)?,
            }
        } else {
            bounds(braces, ",")?
        }
    } else if let Some(sequence) = list.trim_matches(['$', '(', ')', '`']).strip_prefix("seq ") {
        range(&bounds(sequence.trim(), " ")?)?
    } else {
        list.split_whitespace().map(|word| word.parse().ok()).collect::<Option<Vec<u64>>>()?
    };
    let name = name.trim();
    (!values.is_empty() && !name.is_empty() && !name.contains(' ')).then(|| (name.to_owned(), values))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options() {
        let check = |line: &str, expect: Command| assert_eq!(read(line), Some(expect), "{line}");
        let value = Setting::Value;
        let path = |path: &str| Some(path.to_owned());
        check(
            "~ # flashbench -a -b 1024 /dev/mmcblk0 ",
            Command { align: true, block: value(1024), path: path("/dev/mmcblk0"), ..Command::default() },
        );
        check(
            "$ sudo ./flashbench -a /dev/sdb --blocksize=1024 --count=10",
            Command { align: true, block: value(1024), count: value(10), path: path("/dev/sdb"), ..Command::default() },
        );
        check(
            "$ ./flashbench -O --erasesize=$[4 * 1024 * 1024] \\ \t--blocksize=$[256 * 1024] /dev/mmcblk0  --open-au-nr=2",
            Command {
                open_au: true,
                erase: value(4 << 20),
                block: value(256 << 10),
                open_au_nr: value(2),
                path: path("/dev/mmcblk0"),
                ..Command::default()
            },
        );
        check(
            "# ./flashbench -c 1 -A -b1024 /dev/block/mmcblk0p9",
            Command {
                write_align: true,
                count: value(1),
                block: value(1024),
                path: path("/dev/block/mmcblk0p9"),
                ..Command::default()
            },
        );
        check(
            "flashbench -Or -0 5 -e $((8<<20)) /dev/sda",
            Command {
                open_au: true,
                random: true,
                open_au_nr: value(5),
                erase: value(8 << 20),
                path: path("/dev/sda"),
                ..Command::default()
            },
        );
        check(
            "for n in {1..3}; do flashbench -O --open-au-nr=$n /dev/sda; done",
            Command {
                open_au: true,
                open_au_nr: Setting::Each(vec![1, 2, 3]),
                path: path("/dev/sda"),
                ..Command::default()
            },
        );
        check(
            "for n in `seq 2 2 6`; do flashbench -O --open-au-nr $n /dev/sda >> log; done",
            Command {
                open_au: true,
                open_au_nr: Setting::Each(vec![2, 4, 6]),
                path: path("/dev/sda"),
                ..Command::default()
            },
        );
        check("flashbench --prog /dev/x", Command { program: true, path: path("/dev/x"), ..Command::default() });
        check("flashbench -f -e $AU", Command { find_fat: true, erase: Setting::Unclear, ..Command::default() });
    }

    #[test]
    fn not_commands() {
        for line in
            ["", "flashbench", "cd flashbench-dev", "git clone git://x/flashbench.git", "I like flashbench - a lot"]
        {
            assert!(read(line).is_none_or(|command| !command.asks_for_a_test()), "{line}");
        }
    }
}
