//! What `completions` takes, and the scripts that it prints.

use super::tree;
use clap::Args;
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;
use flashscope_model::Kind;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope completions bash >> ~/.bash_completion
  flashscope completions fish > ~/.config/fish/completions/flashscope.fish
  flashscope completions zsh > ~/.zfunc/_flashscope  # fpath has ~/.zfunc")]
pub(crate) struct Completions {
    /// The shell that completes
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

/// What bash needs beside the script that is made for it.
const BASH_TARGETS: &str = include_str!("completions.bash");

impl Completions {
    /// The script that makes the shell complete what can be typed.
    pub(crate) fn script(&self) -> String {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut with_names(tree()), "flashscope", &mut script);
        let mut script = String::from_utf8_lossy(&script).into_owned();
        if self.shell == Shell::Bash {
            script.push_str(&BASH_TARGETS.replace("@MODELS@", &models().join(" ")));
        }
        script
    }
}

/// The simulated devices that have a name.
fn models() -> Vec<&'static str> {
    flashscope_sim::catalogue().iter().map(|model| model.name).collect()
}

/// Arguments whose values have names that are known, though others are taken, too: a file may stand for each of them.
fn with_names(command: clap::Command) -> clap::Command {
    fn names(argument: &clap::Arg) -> Option<Vec<&'static str>> {
        match argument.get_id().as_str() {
            "kind" => Some(Kind::ALL.map(Kind::word).to_vec()),
            "preset" => Some(flashscope_suite::names().collect()),
            "model" => Some(models()),
            _ => None,
        }
    }
    let named = command.mut_args(|argument| match names(&argument) {
        Some(names) => argument.value_parser(PossibleValuesParser::new(names)),
        None => argument,
    });
    named.mut_subcommands(with_names)
}
