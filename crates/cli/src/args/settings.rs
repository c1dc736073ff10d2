//! What `settings` takes, and how what the settings file says comes below the command line and the environment.

use crate::settings::{KNOWN, Kind, Settings};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command};
use flashscope_units::{Bytes, Nanos};

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope settings
  flashscope settings --settings ./lab.toml --json
  FLASHSCOPE_SEED=7 flashscope settings

The command line goes over the environment, and that over the settings file. docs/settings.md has an example of a file.")]
pub(crate) struct ShowSettings {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    tried: Tried,
    /// What each setting is, and who says so.
    #[arg(skip)]
    pub(crate) values: Vec<Value>,
}

/// Options of other commands, so that it can be seen what they and the environment say.
#[derive(Args, Debug)]
struct Tried {
    #[arg(long, hide = true, env = "FLASHSCOPE_SEED", default_value_t = 1)]
    seed: u64,
    #[arg(long, hide = true, env = "FLASHSCOPE_MAX_WRITE")]
    max_write: Option<Bytes>,
    #[arg(long, hide = true)]
    max_time: Option<Nanos>,
}

/// What a setting is.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its value, or what stands for it where nobody says anything.
    pub(crate) text: String,
    /// Who says so.
    pub(crate) source: Source,
}

/// Who says what a setting is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// Nobody.
    Default,
    /// This line of the settings file.
    File(usize),
    /// This variable.
    Environment(String),
    /// An option.
    CommandLine,
}

/// Puts what the settings file says in the place of the defaults. A variable and a setting of one name hold for the same options.
pub(super) fn below(command: Command, settings: &Settings) -> Command {
    fn set(command: Command, settings: &Settings, name: &str) -> Command {
        let said = |argument: &Arg| {
            let id = argument.get_id().as_str();
            let variable = argument.get_env().and_then(|name| name.to_str());
            let everywhere = match id {
                "color" | "quiet" | "verbose" => true,
                "seed" | "max_write" => variable == Some(&format!("FLASHSCOPE_{}", id.to_uppercase())),
                _ => false,
            };
            let setting = match id {
                _ if everywhere => id.to_owned(),
                "max_time" if name == "settings" => format!("inspect.{id}"),
                id => format!("{name}.{id}"),
            };
            let entry = settings.entry(&setting)?;
            // A word of a job is no option's default, as it has its place below job files.
            (!matches!(entry.setting.kind, Kind::JobWord(_))).then(|| entry.text.clone())
        };
        let command = command.mut_args(|argument| match said(&argument) {
            // clap keeps its definitions, and so this text, until the program ends.
            Some(text) => argument.default_value(&*text.leak()),
            None => argument,
        });
        command.mut_subcommands(|inner| {
            let name = inner.get_name().to_owned();
            set(inner, settings, &name)
        })
    }
    set(command, settings, "")
}

/// Every setting, by what was typed and by what the file says.
pub(super) fn values(matches: &ArgMatches, settings: &Settings) -> Vec<Value> {
    let value = |name: &'static str, default: &str| {
        let id = name.strip_prefix("inspect.").unwrap_or(name);
        let known = matches.try_contains_id(id).unwrap_or(false);
        let typed = known.then(|| matches.value_source(id)).flatten();
        let raw = || match id {
            "quiet" | "verbose" => matches.get_flag(id).to_string(),
            _ => matches.get_raw(id).and_then(|mut raw| raw.next()).unwrap_or_default().to_string_lossy().into_owned(),
        };
        let (text, source) = match (typed, settings.entry(name)) {
            (Some(ValueSource::CommandLine), _) => (raw(), Source::CommandLine),
            (Some(ValueSource::EnvVariable), _) => {
                (raw(), Source::Environment(format!("FLASHSCOPE_{}", id.to_uppercase())))
            }
            (_, Some(entry)) => (entry.text.clone(), Source::File(entry.line)),
            (_, None) => (default.to_owned(), Source::Default),
        };
        Value { name, text, source }
    };
    KNOWN.iter().map(|setting| value(setting.name, setting.default)).collect()
}

/// Whether this was typed, rather than set in a file.
pub(super) fn is_typed(matches: &ArgMatches, id: &str) -> bool {
    let inner = matches.subcommand().is_some_and(|(_, inner)| is_typed(inner, id));
    let known = matches.try_contains_id(id).unwrap_or(false);
    inner || known && matches.value_source(id) == Some(ValueSource::CommandLine)
}
