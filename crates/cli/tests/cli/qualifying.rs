//! The guide docs/qualifying.md: every command in it is run, in its order and in one folder, on simulated parts in the
//! place of devices.

use crate::harness::{flashscope, scratch};
use std::path::Path;

/// What stands in the guide, and what is run in its place.
const IN_PLACE: [(&str, &str); 2] = [
    ("/dev/sdb", "sim:sd-4mib,capacity=256MiB,noise=field"),
    ("/dev/sdc", "sim:sd-4mib,capacity=256MiB,noise=field,mapping.read.sense=900us"),
];

fn guide() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/qualifying.md");
    std::fs::read_to_string(path).expect("docs/qualifying.md")
}

/// The insides of the fenced blocks of one language, in their order.
fn blocks(guide: &str, language: &str) -> Vec<String> {
    let begin = format!("```{language}\n");
    let insides = guide.split(&begin).skip(1).map(|rest| rest.split("```").next().unwrap_or_default().to_owned());
    insides.collect()
}

/// The words of each command, and the file that its output goes to.
fn commands(guide: &str) -> Vec<(Vec<String>, Option<String>)> {
    let text = blocks(guide, "sh").join("\n").replace("\\\n", " ");
    let command = |line: &str| {
        let (line, file) = line.split_once(" > ").map_or((line, None), |(line, file)| (line, Some(file.to_owned())));
        let in_place =
            |word: &str| IN_PLACE.iter().find(|(device, _)| *device == word).map_or(word, |(_, part)| part).to_owned();
        (line.split_whitespace().map(in_place).collect(), file)
    };
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(command).collect()
}

#[test]
fn every_command_of_the_guide_runs() {
    let (guide, folder) = (guide(), scratch());
    let plan = blocks(&guide, "toml");
    assert_eq!(plan.len(), 1, "the guide has one plan");
    std::fs::write(folder.join("our-product.toml"), &plan[0]).unwrap();
    let commands = commands(&guide);
    assert!(commands.len() >= 10, "the guide has commands: {commands:?}");
    for (words, file) in &commands {
        let (first, words) = words.split_first().expect("a command has words");
        assert_eq!(first, "flashscope", "the guide runs nothing else: {words:?}");
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let run = flashscope(&words).current_dir(&folder).run();
        // A verdict against the candidate, or none, is an answer too.
        let answers =
            matches!(words[0], "qualify") && matches!(run.code, Some(1 | 2)) && run.stdout.contains("by our-product");
        assert!(run.code == Some(0) || answers, "{words:?}: {:?}\n{}\n{}", run.code, run.stdout, run.stderr);
        if let Some(file) = file {
            std::fs::write(folder.join(file), &run.stdout).unwrap();
        }
        for file in words.windows(2).filter(|pair| matches!(pair[0], "-o" | "--html")).map(|pair| pair[1]) {
            assert!(folder.join(file).metadata().is_ok_and(|file| file.len() > 500), "{words:?} wrote no {file}");
        }
    }
    let page = std::fs::read_to_string(folder.join("sheet.html")).unwrap();
    assert!(page.contains("class=\"sheet\"") && page.contains("by our-product"), "the sheet answers");
    std::fs::remove_dir_all(folder).unwrap();
}
