//! Every setting that there is, once: its name, its values, and what holds where nobody says anything.

use flashscope_load::file::JobText;
use flashscope_units::{Bytes, Nanos};
use std::fmt::Display;
use std::str::FromStr;

/// A setting.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    /// Its name in the file, behind that of its table.
    pub(crate) name: &'static str,
    /// What its value is.
    pub(crate) kind: Kind,
    /// The value where nobody says anything.
    pub(crate) default: &'static str,
}

/// What a setting's value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One of these words.
    Word(&'static [&'static str]),
    /// true or false.
    Flag,
    /// A number from 0 to this.
    Number(u64),
    /// A size with its unit.
    Size,
    /// A time with its unit.
    Time,
    /// What this option of `bench` takes.
    JobWord(&'static str),
}

/// All of them.
pub(crate) const KNOWN: &[Setting] = &[
    setting("color", Kind::Word(&["auto", "always", "never"]), "auto"),
    setting("quiet", Kind::Flag, "false"),
    setting("verbose", Kind::Flag, "false"),
    // TOML's numbers end there.
    setting("seed", Kind::Number(i64::MAX as u64), "1"),
    setting("max_write", Kind::Size, "as each command says"),
    setting("inspect.max_time", Kind::Time, "no limit"),
    setting("bench.random_time", Kind::Time, "10s"),
    setting("bench.engine", Kind::JobWord("engine"), "auto"),
    setting("bench.mode", Kind::JobWord("mode"), "direct"),
    setting("bench.payload", Kind::JobWord("payload"), "incompressible"),
    setting("history.keep", Kind::Flag, "false"),
];

const fn setting(name: &'static str, kind: Kind, default: &'static str) -> Setting {
    Setting { name, kind, default }
}

/// Options that consent to something, which is given for one run and one target.
const CONSENT: [&str; 6] =
    ["allow_write", "destroy_data", "destroy_signatures", "read_in_use", "allow_cached", "force"];

/// Whether this name consents to something, whichever table it stands in.
pub(super) fn is_consent(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or_default().replace('-', "_");
    CONSENT.contains(&last.as_str())
}

/// The least and the longest that a time may be set to.
const TIMES: (Nanos, Nanos) = (Nanos::millis(10), Nanos::secs(864_000));

impl Kind {
    /// What its values look like.
    pub(super) fn looks(self) -> String {
        match self {
            Kind::Word(words) => format!("one of \"{}\"", words.join("\", \"")),
            Kind::Flag => "true or false".to_owned(),
            Kind::Number(most) => format!("a number from 0 to {most}"),
            Kind::Size => "a size with its unit, as \"512MiB\"".to_owned(),
            Kind::Time => "a time with its unit, as \"10s\"".to_owned(),
            Kind::JobWord(option) => format!("a text that `bench --{option}` takes"),
        }
    }

    /// Checks a text; says what is wrong with it.
    pub(crate) fn check(self, text: &str) -> Result<(), String> {
        fn parsed<T: FromStr<Err: Display>>(text: &str) -> Result<T, String> {
            text.parse().map_err(|error: T::Err| error.to_string())
        }
        match self {
            Kind::Word(words) if !words.contains(&text) => Err(crate::near::hint(text, words)),
            Kind::Number(most) => match parsed::<u64>(text) {
                Ok(number) if number <= most => Ok(()),
                _ => Err(format!("hint: {}", self.looks())),
            },
            Kind::Size => parsed::<Bytes>(text).map(|_| ()),
            Kind::Time => match parsed::<Nanos>(text)? {
                time if (TIMES.0..=TIMES.1).contains(&time) => Ok(()),
                _ => Err(format!("hint: from {} to {}", TIMES.0, TIMES.1)),
            },
            Kind::JobWord(option) => {
                let mut job = JobText::default();
                set_word(&mut job, option, text)?;
                job.job("settings").map(|_| ()).map_err(|error| error.to_string())
            }
            Kind::Word(_) | Kind::Flag => Ok(()),
        }
    }
}

/// Puts what this option of `bench` takes into a job.
pub(super) fn set_word(job: &mut JobText, option: &str, text: &str) -> Result<(), String> {
    JobText::options().find(|known| known.option == option).map_or(Ok(()), |known| (known.set)(job, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_load::job::RANDOM_TIME;

    #[test]
    fn every_default_that_is_a_value_is_one_that_can_be_set() {
        for Setting { name, kind, default } in KNOWN {
            let in_words = ["as each command says", "no limit"].contains(default);
            assert_eq!(kind.check(default).is_err(), in_words, "{name} = {default}");
        }
        let of = |name| KNOWN.iter().find(|setting| setting.name == name).unwrap().default;
        assert_eq!(of("bench.random_time").parse(), Ok(RANDOM_TIME));
    }
}
