//! Advice taken apart: what is read, and what is typed.

/// One piece of advice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction<'a> {
    /// What is read.
    pub words: Option<&'a str>,
    /// What is typed.
    pub command: Option<&'a str>,
}

/// Programs that advice names; of file systems there are many, all `mkfs.`.
const PROGRAMS: [&str; 6] = ["parted", "echo", "systemctl", "fstrim", "blkdiscard", "mount"];

/// The words and the command of a piece of advice: a command stands behind the last `: `, or alone.
pub fn instruction(text: &str) -> Instruction<'_> {
    let is_command = |part: &str| {
        let program = part.split(' ').next().unwrap_or_default();
        program.starts_with("mkfs.") || PROGRAMS.contains(&program)
    };
    match text.rsplit_once(": ") {
        Some((words, command)) if is_command(command) => Instruction { words: Some(words), command: Some(command) },
        _ if is_command(text) => Instruction { words: None, command: Some(text) },
        _ => Instruction { words: Some(text), command: None },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_words() {
        let check = |text: &str, words, command| {
            assert_eq!(instruction(text), Instruction { words, command });
        };
        check(
            "mkfs.f2fs -s 2 PARTITION; mount -o active_logs=6",
            None,
            Some("mkfs.f2fs -s 2 PARTITION; mount -o active_logs=6"),
        );
        check(
            "clusters of 32 KiB: mkfs.fat -s 64 PARTITION",
            Some("clusters of 32 KiB"),
            Some("mkfs.fat -s 64 PARTITION"),
        );
        check("write sequentially: random writes are slow", Some("write sequentially: random writes are slow"), None);
        check("write no more than 8 streams at once", Some("write no more than 8 streams at once"), None);
    }
}
