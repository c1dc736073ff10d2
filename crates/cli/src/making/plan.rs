//! What is going to be done, before it is done.

use super::Order;
use flashscope_device::{Availability, PurgeStep};
use flashscope_model::DeviceFacts;
use flashscope_state::{Journal, Recipe, Step};
use flashscope_units::Nanos;

/// The plan as text, or for programs.
pub(super) fn text_or_json(
    order: &Order,
    (recipe, journal): (&Recipe, &Journal),
    facts: &DeviceFacts,
    ladder: Vec<(PurgeStep, Availability)>,
    json: bool,
) -> String {
    let (most, read) = (journal.most_left(recipe), recipe.most_read());
    let (time, assumes) = recipe.time(facts);
    let share = order.life.share(most);
    let ladder = ladder.into_iter().filter(|_| recipe.steps.iter().any(|step| matches!(step, Step::Purge { .. })));
    let ladder: Vec<(&str, bool, String)> = ladder.map(|(step, there)| said(step, there)).collect();
    let needs = order.life.refusal(recipe.most_written(), facts.capacity);
    if json {
        let ladder: Vec<_> = ladder
            .iter()
            .map(|(step, there, why)| serde_json::json!({ "step": step, "may_be_there": there, "why": why }))
            .collect();
        let plan = serde_json::json!({
            "device": facts.name,
            "capacity_bytes": facts.capacity.get(),
            "state": recipe.state.word(),
            "steps": recipe.describe(),
            "ladder": ladder,
            "write_at_most_bytes": most.get(),
            "read_at_most_bytes": read.get(),
            "time_ns": { "about": time.get(), "assuming": assumes },
            "life_share_ratio": share,
            "life_source": order.life.source(),
            "needs_accept_wear": needs,
        });
        return format!("{plan:#}");
    }
    let mut lines = vec![
        format!("{} ({}, {} bytes)", facts.name, facts.capacity, facts.capacity.get()),
        format!("to make it {}:", recipe.state.word()),
    ];
    lines.extend(short(recipe.describe()).into_iter().map(|step| format!("  {step}")));
    if !ladder.is_empty() {
        lines.push("the purge ladder, the strongest step first:".to_owned());
        lines.extend(ladder.iter().map(|(step, _, why)| format!("  {step:<14} {why}")));
    }
    lines.push(format!("writes at most {most}; what stands there now is destroyed"));
    lines.push(format!("reads at most {read}"));
    lines.push(match time {
        Nanos::ZERO => "takes as long as the device's purge does, which nobody can tell beforehand".to_owned(),
        time => format!("takes about {time} of device time, assuming {assumes}"),
    });
    let share = share.map_or("unknown".to_owned(), |share| format!("{:.3} %", share * 100.0));
    lines.push(format!("share of the rated life: {share} ({})", order.life.source()));
    lines.extend(needs.map(|why| format!("needs --accept-wear: {why}")));
    lines.join("\n")
}

/// Steps that are shown; of more, the middle says nothing new.
const SHOWN: usize = 8;

fn short(mut steps: Vec<String>) -> Vec<String> {
    if steps.len() > SHOWN {
        let end = steps.split_off(steps.len() - 2);
        let left = steps.len() - (SHOWN - 3);
        steps.truncate(SHOWN - 3);
        steps.push(format!("… {left} more steps like these"));
        steps.extend(end);
    }
    steps
}

/// A step of the ladder: its name, whether it may be there, and what is known of it.
fn said(step: PurgeStep, there: Availability) -> (&'static str, bool, String) {
    let (may_be, why) = match there {
        Availability::There => (true, "there".to_owned()),
        Availability::Unknown(why) => (true, format!("perhaps: {why}")),
        Availability::Absent(why) => (false, format!("not there: {why}")),
    };
    (step.word(), may_be, why)
}
