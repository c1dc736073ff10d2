//! The plan of all pairs: what is measured in turns, and what is asked of the candidate once.

use super::functional::Functional;
use super::work::MEASURED;
use crate::DrawError;
use flashscope_model::comparison::Better;
use flashscope_qualify::Plan;

/// The plan with limits of this width: at least 0.95 of the reference's rate and at most 1.05 of its time, where that
/// is 0.05.
pub(super) fn plan(limit: f64, blocks: u32, candidate: &Functional) -> Result<Plan, DrawError> {
    let mut text = format!(
        "[plan]\nname = \"pairs\"\ntitle = \"A candidate is as good as the reference\"\nsource = \"simulated pairs\"\nblocks = {blocks}\n"
    );
    for measured in &MEASURED {
        let (name, figure) = (measured.name, measured.figure);
        let (kind, limit) = match measured.better {
            Better::Higher => ("disk", format!(">= {} x reference", 1.0 - limit)),
            Better::Lower => ("functional", format!("<= {} x reference", 1.0 + limit)),
        };
        text.push_str(&format!("\n[[workload]]\nname = \"{name}\"\n{}\n", measured.command));
        text.push_str(&requirement(name, figure, &limit, kind));
    }
    for (name, question, command) in candidate.asked() {
        text.push_str(&format!("\n[[workload]]\nname = \"{name}\"\n{command}\n"));
        text.push_str(&requirement(name, question, "holds", "integrity"));
    }
    Plan::parse(&text).map_err(|error| DrawError::new(error.to_string()))
}

fn requirement(name: &str, figure: &str, limit: &str, kind: &str) -> String {
    format!(
        "\n[[requirement]]\nname = \"{name}\"\ntitle = \"{name}\"\nworkload = \"{name}\"\nfigure = \"{figure}\"\nlimit = \"{limit}\"\nkind = \"{kind}\"\n"
    )
}
