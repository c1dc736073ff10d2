//! How results are said: options that every command takes.

use clap::{Args, ValueEnum};

/// The heading of these options in every help text.
pub(super) const HEADING: &str = "Global options";

/// What every command takes.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct Manner {
    /// Colour the text; auto: on a terminal, where NO_COLOR is not set [default: auto]
    #[arg(long, visible_alias = "colour", value_enum, value_name = "WHEN", global = true, hide_possible_values = true)]
    #[arg(help_heading = HEADING)]
    pub(crate) color: Option<ColorWhen>,
    /// Show no progress and no notices; errors and results stay
    #[arg(short, long, global = true, help_heading = HEADING)]
    pub(crate) quiet: bool,
    /// Print all of the evidence
    #[arg(short, long, global = true, help_heading = HEADING)]
    pub(crate) verbose: bool,
}

/// When text is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// On a terminal, where NO_COLOR is not set.
    #[default]
    Auto,
    /// Into files and pipes, too.
    Always,
    /// Nowhere.
    Never,
}

impl ColorWhen {
    /// What `words` say of it. Help and mistakes are printed before all else is understood, so this is looked for by itself.
    pub(super) fn typed(words: impl IntoIterator<Item = std::ffi::OsString>) -> Option<ColorWhen> {
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
