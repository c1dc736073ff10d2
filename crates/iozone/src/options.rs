//! iozone's command line.
//!
//! One letter each, clustered or not, values attached or not, as iozone takes them. What it passes over in silence (an
//! unknown option, a stray word, a size that is none) is an error here. A few words of our own with two dashes, which iozone has
//! none of, say what becomes of the result.

use crate::sizes;
use flashscope_device::Durable;
use flashscope_model::iozone::Unit;
use flashscope_units::Bytes;
use std::fmt;

/// What was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// What is done instead of measuring.
    pub instead: Option<Instead>,
    /// `-a` or `-A`.
    pub auto: Auto,
    /// `-i`, in the order given; empty where none was.
    pub tests: Vec<u8>,
    /// `-E`: the tests from 9 on, too.
    pub extensions: bool,
    /// `-s`.
    pub files: Vec<Bytes>,
    /// `-r`.
    pub records: Vec<Bytes>,
    /// `-n`.
    pub min_file: Option<Bytes>,
    /// `-g`.
    pub max_file: Option<Bytes>,
    /// `-y`.
    pub min_record: Option<Bytes>,
    /// `-q`.
    pub max_record: Option<Bytes>,
    /// `-z`: small records in large files, too.
    pub all_records: bool,
    /// `-R`.
    pub report: bool,
    /// `-b`.
    pub workbook: Option<String>,
    /// `-f`, or the names of `-F`.
    pub names: Vec<String>,
    /// Whether `-F` named them.
    pub named_each: bool,
    /// `-t`, or `-l` and `-u`: smallest and largest number of workers.
    pub workers: Option<(u32, u32)>,
    /// `-O` or `-N`.
    pub unit: Unit,
    /// `-e`: flush inside the timing.
    pub flush: bool,
    /// `-c`: close inside the timing.
    pub close: bool,
    /// `-o`, `-+r` or `-+D`.
    pub durable: Durable,
    /// `-I`.
    pub direct: bool,
    /// `-w`: leave the files there.
    pub keep: bool,
    /// `-p`: go through as much memory as the processor's cache holds before each pass.
    pub purge: bool,
    /// `-S`: how much that is.
    pub processor_cache: Bytes,
    /// `-C`: show what each worker moved.
    pub each_child: bool,
    /// `-B`: a memory map.
    pub map: bool,
    /// `-H` or `-k`: depth, and whether records are copied.
    pub asynchronous: Option<(u32, bool)>,
    /// `-j`: records from one read of test 5 to the next.
    pub stride: u64,
    /// `-+n`: nothing is done twice.
    pub once: bool,
    /// `-x`: workers go on when the first is done.
    pub no_stonewall: bool,
    /// `-+p`: share of reads in test 8.
    pub reads: f64,
    /// `-P`: keep workers on processors from this one on.
    pub processor: Option<usize>,
    /// Words of our own.
    pub ours: Ours,
}

/// Instead of measuring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instead {
    /// `-h` or `--help`.
    Help,
    /// `-v` or `--version`.
    Version,
    /// `--schema`.
    Schema,
}

/// Automatic modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Auto {
    /// One file size, or those of `-s`.
    No,
    /// `-a`.
    Full,
    /// `-A`: the same with every record size, tests 0 and 1.
    Second,
}

/// What iozone has no option for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ours {
    /// `--json`: the record on stdout and nothing else.
    pub json: bool,
    /// `--output FILE`: keep the record.
    pub output: Option<String>,
    /// `--csv FILE`.
    pub csv: Option<String>,
    /// `--html FILE`.
    pub html: Option<String>,
    /// `--dry-run`: print the plan and do nothing.
    pub dry_run: bool,
    /// `--allow-write`: a file that is there already may be emptied and written to.
    pub allow_write: bool,
    /// `--destroy-signatures`: even where it holds data that flashscope did not write.
    pub destroy_signatures: bool,
    /// `--force`: replace files that flashscope did not write by its results.
    pub force: bool,
    /// `--cold`: drop the file from the page cache before each pass.
    pub cold: bool,
    /// `--seed N`.
    pub seed: u64,
    /// `--max-write SIZE`.
    pub max_write: Option<Bytes>,
}

/// Why a command line is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionError {
    /// iozone has no such option either.
    Unknown {
        /// As it was typed.
        option: String,
    },
    /// iozone has it, and it is not done here.
    Unsupported {
        /// As it was typed.
        option: String,
        /// What to do instead.
        hint: &'static str,
    },
    /// Its value is missing.
    MissingValue {
        /// The option.
        option: String,
    },
    /// Its value makes no sense.
    BadValue {
        /// The option.
        option: String,
        /// Its value.
        value: String,
        /// What is wrong with it.
        why: String,
    },
    /// A word that belongs to no option.
    Stray {
        /// The word.
        word: String,
    },
    /// Two options that cannot both be followed.
    Contradiction {
        /// The two, and why.
        what: String,
    },
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { option } => write!(
                f,
                "iozone has no option {option}\nhint: `flashscope bench iozone -h` lists the options that are taken"
            ),
            Self::Unsupported { option, hint } => {
                write!(f, "iozone's option {option} is not supported\nhint: {hint}")
            }
            Self::MissingValue { option } => write!(f, "option {option} needs a value"),
            Self::BadValue { option, value, why } => write!(f, "{option} {value}: {why}"),
            Self::Stray { word } => {
                write!(f, "'{word}' belongs to no option\nhint: the file to work on is named with -f")
            }
            Self::Contradiction { what } => write!(f, "{what}"),
        }
    }
}

impl std::error::Error for OptionError {}

impl Default for Options {
    fn default() -> Options {
        Options {
            instead: None,
            auto: Auto::No,
            tests: Vec::new(),
            extensions: false,
            files: Vec::new(),
            records: Vec::new(),
            min_file: None,
            max_file: None,
            min_record: None,
            max_record: None,
            all_records: false,
            report: false,
            workbook: None,
            names: Vec::new(),
            named_each: false,
            workers: None,
            unit: Unit::KbPerSecond,
            flush: false,
            close: false,
            durable: Durable::No,
            direct: false,
            keep: false,
            purge: false,
            processor_cache: Bytes::kib(1024),
            each_child: false,
            map: false,
            asynchronous: None,
            stride: 17,
            once: false,
            no_stonewall: false,
            reads: 0.5,
            processor: None,
            ours: Ours { seed: 1, ..Ours::default() },
        }
    }
}

/// Reads a command line, the words after `iozone`.
///
/// # Errors
/// Names the first option that is not taken, and why.
pub fn parse(words: &[String]) -> Result<Options, OptionError> {
    let mut reader = Reader { words, at: 0, options: Options::default(), lower: None, upper: None };
    while let Some(word) = reader.words.get(reader.at) {
        reader.at += 1;
        if let Some(long) = word.strip_prefix("--") {
            reader.long(long)?;
        } else if let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            reader.cluster(letters)?;
        } else {
            return Err(OptionError::Stray { word: word.clone() });
        }
    }
    reader.finish()
}

struct Reader<'a> {
    words: &'a [String],
    at: usize,
    options: Options,
    lower: Option<u32>,
    upper: Option<u32>,
}

impl Reader<'_> {
    /// Letters until one takes the rest as its value.
    fn cluster(&mut self, letters: &str) -> Result<(), OptionError> {
        for (at, letter) in letters.char_indices() {
            let rest = &letters[at + letter.len_utf8()..];
            if letter == '+' {
                return self.plus(rest);
            }
            if takes_value(letter) {
                return self.with_value(letter, rest);
            }
            self.alone(letter)?;
        }
        Ok(())
    }

    fn alone(&mut self, letter: char) -> Result<(), OptionError> {
        let options = &mut self.options;
        match letter {
            'a' => options.auto = Auto::Full,
            'A' => options.auto = Auto::Second,
            'B' => options.map = true,
            'c' => options.close = true,
            'C' => options.each_child = true,
            'e' => options.flush = true,
            'E' => options.extensions = true,
            'h' => options.instead = Some(Instead::Help),
            'I' => options.direct = true,
            'N' => options.unit = Unit::MicrosPerOp,
            'o' => options.durable = Durable::All,
            'O' => options.unit = Unit::OpsPerSecond,
            'p' => options.purge = true,
            'R' => options.report = true,
            'v' => options.instead = Some(Instead::Version),
            'w' => options.keep = true,
            'x' => options.no_stonewall = true,
            'z' => options.all_records = true,
            // Workers are threads, and the kernel's name is in the record, whether asked for or not.
            'T' | 'M' => {}
            _ => return Err(refused(&format!("-{letter}"))),
        }
        Ok(())
    }

    fn with_value(&mut self, letter: char, rest: &str) -> Result<(), OptionError> {
        let option = format!("-{letter}");
        if letter == 'F' {
            return self.names(rest);
        }
        let value = self.value(&option, rest)?;
        let bad =
            |why: &str| OptionError::BadValue { option: option.clone(), value: value.clone(), why: why.to_owned() };
        let size = || sizes::parse(&value).map_err(|why| bad(&why));
        let count = |most: u32| match value.parse::<u32>() {
            Ok(number) if (1..=most).contains(&number) => Ok(number),
            _ => Err(bad(&format!("a number from 1 to {most} is needed"))),
        };
        let options = &mut self.options;
        match letter {
            'b' => options.workbook = Some(value),
            'f' => (options.names, options.named_each) = (vec![value], false),
            'g' => options.max_file = Some(size()?),
            'H' => options.asynchronous = Some((count(MOST_OUTSTANDING)?, true)),
            'i' => {
                let test = value.parse().ok().filter(|test| *test <= 12);
                let test = test.ok_or_else(|| bad("tests are numbered from 0 to 12"))?;
                if !options.tests.contains(&test) {
                    options.tests.push(test);
                }
            }
            'j' => options.stride = u64::from(count(u32::MAX)?),
            'k' => options.asynchronous = Some((count(MOST_OUTSTANDING)?, false)),
            'l' => self.lower = Some(count(MOST_WORKERS)?),
            // Told to iozone so that its buffers lie well; ours lie on pages.
            'L' => drop(count(u32::MAX)?),
            'n' => options.min_file = Some(size()?),
            'P' => options.processor = Some(value.parse().map_err(|_| bad("the number of a processor is needed"))?),
            'q' => options.max_record = Some(size()?),
            'r' => options.records.push(size()?),
            's' => options.files.push(size()?),
            'S' => options.processor_cache = size()?,
            't' => options.workers = Some((count(MOST_WORKERS)?, count(MOST_WORKERS)?)),
            'u' => self.upper = Some(count(MOST_WORKERS)?),
            'y' => options.min_record = Some(size()?),
            _ => return Err(refused(&option)),
        }
        Ok(())
    }

    /// `-F` takes all words up to the next option.
    fn names(&mut self, rest: &str) -> Result<(), OptionError> {
        let mut names: Vec<String> = (!rest.is_empty()).then(|| rest.to_owned()).into_iter().collect();
        while let Some(word) = self.words.get(self.at).filter(|word| !word.starts_with('-')) {
            names.push(word.clone());
            self.at += 1;
        }
        if names.is_empty() {
            return Err(OptionError::MissingValue { option: "-F".to_owned() });
        }
        (self.options.names, self.options.named_each) = (names, true);
        Ok(())
    }

    fn plus(&mut self, rest: &str) -> Result<(), OptionError> {
        let Some(letter) = rest.chars().next() else {
            return Err(OptionError::MissingValue { option: "-+".to_owned() });
        };
        let (option, rest) = (format!("-+{letter}"), &rest[letter.len_utf8()..]);
        match letter {
            'n' => self.options.once = true,
            'r' => self.options.durable = Durable::Reads,
            'D' => self.options.durable = Durable::Data,
            'p' => {
                let value = self.value(&option, rest)?;
                let percent = value.parse::<u32>().ok().filter(|percent| *percent <= 100);
                let why = || "a percentage from 0 to 100 is needed".to_owned();
                let bad = || OptionError::BadValue { option: option.clone(), value: value.clone(), why: why() };
                self.options.reads = f64::from(percent.ok_or_else(bad)?) / 100.0;
                return Ok(());
            }
            _ => return Err(refused(&option)),
        }
        if rest.is_empty() { Ok(()) } else { self.cluster(rest) }
    }

    fn long(&mut self, word: &str) -> Result<(), OptionError> {
        let (name, attached) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (word, None),
        };
        let option = format!("--{name}");
        let mut value = || match attached.clone() {
            Some(value) => Ok(value),
            None => self.value(&option, ""),
        };
        match name {
            "output" => self.options.ours.output = Some(value()?),
            "csv" => self.options.ours.csv = Some(value()?),
            "html" => self.options.ours.html = Some(value()?),
            "seed" | "max-write" => {
                let value = value()?;
                let bad = |why: String| OptionError::BadValue { option: option.clone(), value: value.clone(), why };
                if name == "seed" {
                    self.options.ours.seed = value.parse().map_err(|_| bad("a whole number is needed".to_owned()))?;
                } else {
                    // Our own word, hence our own units.
                    self.options.ours.max_write = Some(value.parse().map_err(|error| bad(format!("{error}")))?);
                }
            }
            _ if attached.is_some() => return Err(OptionError::Unknown { option: format!("--{word}") }),
            "json" => self.options.ours.json = true,
            "dry-run" => self.options.ours.dry_run = true,
            "allow-write" => self.options.ours.allow_write = true,
            "destroy-signatures" => self.options.ours.destroy_signatures = true,
            "force" => self.options.ours.force = true,
            "cold" => self.options.ours.cold = true,
            "help" => self.options.instead = Some(Instead::Help),
            "version" => self.options.instead = Some(Instead::Version),
            "schema" => self.options.instead = Some(Instead::Schema),
            _ => return Err(OptionError::Unknown { option }),
        }
        Ok(())
    }

    /// What is attached, or the next word.
    fn value(&mut self, option: &str, rest: &str) -> Result<String, OptionError> {
        if !rest.is_empty() {
            return Ok(rest.to_owned());
        }
        let value = self.words.get(self.at).cloned();
        self.at += 1;
        value.ok_or_else(|| OptionError::MissingValue { option: option.to_owned() })
    }

    fn finish(self) -> Result<Options, OptionError> {
        let mut options = self.options;
        match (self.lower, self.upper) {
            (None, None) => {}
            (lower, upper) => {
                let (low, high) = (lower.or(upper).unwrap_or(1), upper.or(lower).unwrap_or(1));
                if low > high {
                    return Err(OptionError::Contradiction { what: format!("-l {low} is more than -u {high}") });
                }
                options.workers = Some((low, high));
            }
        }
        if options.map && options.asynchronous.is_some() {
            return Err(OptionError::Contradiction {
                what: "-B and asynchronous I/O (-H, -k) exclude each other".to_owned(),
            });
        }
        if options.map && options.direct {
            return Err(OptionError::Contradiction {
                what: "-I goes past the page cache, and -B maps the page cache: they exclude each other".to_owned(),
            });
        }
        if options.auto != Auto::No && options.workers.is_some() {
            let what = "-a and several workers (-t) exclude each other\nhint: name sizes with -s and -r";
            return Err(OptionError::Contradiction { what: what.to_owned() });
        }
        if options.named_each {
            let (named, workers) = (options.names.len(), options.workers.map_or(1, |(_, most)| most) as usize);
            if named != workers {
                let what =
                    format!("-F names {named} files for {workers} workers\nhint: -t says how many workers there are");
                return Err(OptionError::Contradiction { what });
            }
        }
        Ok(options)
    }
}

/// More would need more memory for nothing: one thread of the C library serves each.
const MOST_OUTSTANDING: u32 = 1024;
/// As many as iozone starts.
const MOST_WORKERS: u32 = 256;

fn takes_value(letter: char) -> bool {
    "bdfFgHijJklLnPqrsStuUVXyY".contains(letter)
}

/// What iozone has and we do not is told from what nobody has.
fn refused(option: &str) -> OptionError {
    let hint = match option {
        "-U" => "it unmounts file systems; --cold drops the file from the page cache before each pass, -I goes past it",
        "-d" | "-J" => "`flashscope bench` has --think and --rate",
        "-D" | "-G" => "-B with -e flushes the map inside the timing",
        "-K" | "-X" | "-Y" => "`flashscope bench` runs other patterns, by --pattern or a job file",
        "-m" => "one buffer per worker is used",
        "-Q" => "`flashscope bench --trace` keeps the time of each request",
        "-V" => "every page's mark is checked in any case; `flashscope bench --verify` checks every byte",
        "-W" | "-Z" => "locks and mixed access are not measured",
        "-+u" | "-+z" => "`flashscope bench` shows processor time and histograms",
        _ if option.starts_with("-+") && option.len() == 3 => {
            "of the options with a plus, -+n, -+p, -+r and -+D are taken"
        }
        _ => return OptionError::Unknown { option: option.to_owned() },
    };
    OptionError::Unsupported { option: option.to_owned(), hint }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Options, OptionError> {
        parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn clusters_and_values_are_read_as_getopt_does() {
        let options = read("-Rab out.xlsx -i0 -i 1 -g4g -n 64 -azO -r 4 -r 16k -ft/file").unwrap();
        assert!(options.report && options.all_records && options.auto == Auto::Full);
        assert_eq!(options.workbook.as_deref(), Some("out.xlsx"));
        assert_eq!((options.tests, options.unit), (vec![0, 1], Unit::OpsPerSecond));
        assert_eq!((options.max_file, options.min_file), (Some(Bytes::gib(4)), Some(Bytes::kib(64))));
        assert_eq!((options.records, options.names), (vec![Bytes::kib(4), Bytes::kib(16)], vec!["t/file".to_owned()]));
        let options = read("-t 2 -F a b -e -+n -+p 30 -+nR").unwrap();
        assert_eq!((options.workers, options.names.len(), options.reads), (Some((2, 2)), 2, 0.3));
        assert!(options.once && options.report && options.flush);
        let options = read("-l 2 -u 4 -H 8 --json --csv=x --seed 9").unwrap();
        assert_eq!((options.workers, options.asynchronous), (Some((2, 4)), Some((8, true))));
        assert_eq!((options.ours.csv.as_deref(), options.ours.seed), (Some("x"), 9));
    }

    #[test]
    fn what_is_not_taken_is_named() {
        let check = |line: &str, words: &str| {
            let said = read(line).expect_err(line).to_string();
            assert!(said.contains(words), "{line}: {said}");
        };
        check("-a -%", "no option -%");
        check("-aU /mnt", "-U is not supported");
        check("-V 5", "-V is not supported");
        check("-+u", "-+u is not supported");
        check("-+", "-+ needs a value");
        check("-s", "-s needs a value");
        check("-s 10x", "-s 10x");
        check("-i 13", "from 0 to 12");
        check("-a file", "'file' belongs to no option");
        check("-a -", "'-' belongs to no option");
        check("--jason", "no option --jason");
        check("--json=1", "no option --json=1");
        check("-l 3 -u 2", "-l 3 is more");
        check("-F a b", "names 2 files for 1");
        check("-B -I", "exclude each other");
        check("-t 0", "from 1 to 256");
        check("-F -a", "-F needs a value");
    }

    #[test]
    fn nothing_typed_makes_it_panic() {
        for line in ["-+é", "-é", "--", "-b", "--=", "-i -i", "-s -1", "-+p", "-+p x", "-j 0", "-Fé -é"] {
            assert!(read(line).is_err(), "{line}");
        }
    }
}
