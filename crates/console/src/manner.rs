//! How results are said: options that every command takes.

use crate::output;
use clap::{Args, ValueEnum};
use flashscope_report::Style;
use std::io::IsTerminal;

/// The heading of these options in every help text.
pub const HEADING: &str = "Global options";

/// What every command takes.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct Manner {
    /// Colour the text; auto: on a terminal, where NO_COLOR is not set [default: auto]
    #[arg(long, visible_alias = "colour", value_enum, value_name = "WHEN", global = true, hide_possible_values = true)]
    #[arg(help_heading = HEADING)]
    pub color: Option<ColorWhen>,
    /// Show no progress and no notices; errors and results stay
    #[arg(short, long, global = true, help_heading = HEADING)]
    pub quiet: bool,
    /// Print all of the evidence
    #[arg(short, long, global = true, help_heading = HEADING)]
    pub verbose: bool,
}

/// When text is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorWhen {
    /// On a terminal, where NO_COLOR is not set.
    #[default]
    Auto,
    /// Into files and pipes, too.
    Always,
    /// Nowhere.
    Never,
}

impl Manner {
    /// Whether what is printed on stdout may be coloured.
    pub fn colour(self) -> bool {
        let plain = || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        match self.color.unwrap_or_default() {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => std::io::stdout().is_terminal() && !plain(),
        }
    }

    /// How a report is printed on stdout.
    pub fn style(self) -> Style {
        Style { colour: self.colour(), ..self.file_style() }
    }

    /// How a report is written as text into a file.
    pub fn file_style(self) -> Style {
        Style { colour: false, width: output::width(), verbose: self.verbose }
    }

    /// These options again, for a program that is started: what was typed of them.
    pub fn words(self) -> Vec<String> {
        let color = self.color.and_then(|color| color.to_possible_value());
        let color = color.map(|value| format!("--color={}", value.get_name()));
        let rest = [(self.quiet, "--quiet"), (self.verbose, "--verbose")];
        color.into_iter().chain(rest.into_iter().filter(|(typed, _)| *typed).map(|(_, word)| word.to_owned())).collect()
    }
}

impl ColorWhen {
    /// What `words` say of it. Help and mistakes are printed before all else is understood, so this is looked for by itself.
    pub fn typed(words: impl IntoIterator<Item = std::ffi::OsString>) -> Option<ColorWhen> {
        let mut words = words.into_iter().take_while(|word| word != "--");
        let mut found = None;
        while let Some(word) = words.next() {
            let value = match word.to_str() {
                Some("--color" | "--colour") => words.next().and_then(|value| value.into_string().ok()),
                Some(text) => text.strip_prefix("--color=").or(text.strip_prefix("--colour=")).map(str::to_owned),
                None => None,
            };
            found = value.and_then(|value| ColorWhen::from_str(&value, false).ok()).or(found);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_colour_is_known_before_all_else_is_understood() {
        let check = |words: &[&str], expect: Option<ColorWhen>| {
            assert_eq!(ColorWhen::typed(words.iter().map(Into::into)), expect, "{words:?}");
        };
        check(&["inspekt", "--color", "never"], Some(ColorWhen::Never));
        check(&["--colour=always", "--help"], Some(ColorWhen::Always));
        check(&["--color=always", "--color=auto"], Some(ColorWhen::Auto));
        check(&["--color"], None);
        check(&["--color=red"], None);
        check(&["bench", "fio", "--", "--color=always"], None);
    }
}
