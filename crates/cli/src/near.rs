//! What somebody may have meant who typed a name that nothing has.

use std::fmt::Display;

/// A name is near where it is as alike as this, of 1 (Jaro-Winkler): a letter too many, too few, or two in the wrong order.
const ALIKE: f64 = 0.85;

/// A hint that says the nearest names, and all that there are.
pub(crate) fn hint<T: Display>(typed: &str, known: impl IntoIterator<Item = T>) -> String {
    let known: Vec<String> = known.into_iter().map(|name| name.to_string()).collect();
    let nearest = known
        .iter()
        .map(|name| (strsim::jaro_winkler(&typed.to_lowercase(), name), name))
        .filter(|(alike, _)| *alike >= ALIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let all = known.join(", ");
    match nearest {
        Some((_, name)) => format!("hint: did you mean {name}? There are {all}"),
        None => format!("hint: one of {all}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_seen_and_a_guess_is_not() {
        let known = ["inspect", "infer", "iozone"];
        let check = |typed: &str, expect: &str| assert_eq!(hint(typed, known), expect);
        check("inspct", "hint: did you mean inspect? There are inspect, infer, iozone");
        check("Infer", "hint: did you mean infer? There are inspect, infer, iozone");
        check("zzz", "hint: one of inspect, infer, iozone");
    }
}
