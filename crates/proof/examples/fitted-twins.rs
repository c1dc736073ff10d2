//! Fits the catalogue's fitted twins anew: writes their model files and docs/twins-fitted.md.
//!
//! `cargo run --release -p flashscope-proof --example fitted-twins`, from anywhere in the repository; with names of models
//! it prints their pages instead and writes nothing.

use flashscope_model::envelope::{Envelope, Kind, Tool};
use flashscope_proof::twins::FITTED;
use std::io::{Error, Write};
use std::path::Path;

const HEAD: &str = "# Fitted twins

Models of the catalogue that `twin fit` made of published logs ([twin](twin.md) says how), and how close each comes. Written,
like the model files themselves, by `cargo run --release -p flashscope-proof --example fitted-twins`; the shares below are held by
`crates/proof/tests/fitted_twins.rs`.

Held to: (a) figures over 16 and more requests, minima and the three times around a boundary: per test 95 % of the cells
within 15 %, median error at most 7 % (the simulated figure is the median of 11 seeds); (b) the mean of each level of what straddling
costs within 15 % or 10 µs; (c) rows of fewer than 16 requests: the measured figure in the central 95 % of 200 seeds, that band at most twice as
wide as the measured replicates scatter; (d) models that are wrong on purpose are farther off. Where it says no, it is no: what these models
cannot give is listed in [twin](twin.md).
";

fn main() -> Result<(), Error> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let mut page = HEAD.to_owned();
    for twin in FITTED.iter().filter(|twin| wanted.is_empty() || wanted.iter().any(|name| name == twin.model)) {
        let log = std::fs::read_to_string(root.join(twin.path))?;
        let fit = twin.fit(&log).map_err(Error::other)?;
        page.push_str(&flashscope_report::twin::markdown(
            &fit.told(Envelope::new(Kind::Twin, Tool::default(), "twin fit", "")),
            &format!("`{}`", twin.model),
        ));
        writeln!(std::io::stderr(), "{}: {:.3} within 15 %", twin.model, fit.goodness.within())?;
        if wanted.is_empty() {
            let file = format!("crates/sim/catalogue/{}.toml", twin.model);
            // What `show` says behind every model stands in no file.
            let model = fit.model.split("\n# Short names").next().unwrap_or_default();
            std::fs::write(root.join(file), model)?;
        }
    }
    match wanted.is_empty() {
        true => std::fs::write(root.join("docs/twins-fitted.md"), page),
        false => std::io::stdout().write_all(page.as_bytes()),
    }
}
