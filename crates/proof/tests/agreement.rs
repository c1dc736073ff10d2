//! One truth about speed: `inspect`'s table and `bench` agree on every model of the catalogue.

use flashscope_fleet::{Generator, Noise};
use flashscope_proof::agreement::{Looked, speeds};

fn check(model: &str) {
    let open = |seed| flashscope_sim::open(model, seed).map_err(|error| error.to_string());
    let compared = speeds(&open, 1).expect("both run").cells;
    assert_eq!(compared.len(), 16, "{model}: reads and writes, sequential and random, of four sizes");
    let apart: Vec<String> = compared.iter().filter(|row| !row.agrees).map(ToString::to_string).collect();
    assert!(apart.is_empty(), "{model}:\n{}", apart.join("\n"));
}

#[test]
fn inspect_and_bench_agree_on_every_model_of_the_catalogue() {
    flashscope_sim::catalogue().iter().for_each(|entry| check(entry.name));
}

/// The canary: a comparison that nothing can fail would prove nothing.
#[test]
fn a_device_of_another_speed_does_not_agree() {
    let slower = |seed: u64| if seed == 1 { "sd-4mib" } else { "card-3" };
    let open = |seed| flashscope_sim::open(slower(seed), seed).map_err(|error| error.to_string());
    let compared = speeds(&open, 1).expect("both run").cells;
    let apart = compared.iter().filter(|row| !row.agrees).count();
    assert!(apart >= 12, "only {apart} of {} cells of two devices differ", compared.len());
}

/// Devices that nobody has looked at, noise and all: what differs differs by chance, or by a state that neither reached.
#[test]
fn inspect_and_bench_agree_on_most_cells_of_a_small_fleet() {
    let (mut cells, mut apart) = (0, Vec::new());
    for index in 0..6 {
        let drawn =
            flashscope_fleet::draw(Generator::Wide, 4_213, index, Some(Noise::Field)).expect("a device is drawn");
        let open = |seed| {
            flashscope_sim::open_with("drawn.toml", seed, |_| Ok(drawn.text.clone())).map_err(|error| error.to_string())
        };
        let Ok(Looked { cells: compared, .. }) = speeds(&open, drawn.seed) else { continue };
        cells += compared.len();
        apart.extend(compared.iter().filter(|row| !row.agrees).map(|row| format!("{index} ({}): {row}", drawn.title)));
    }
    assert!(apart.len() * 10 <= cells, "{} of {cells} cells differ:\n{}", apart.len(), apart.join("\n"));
}
