//! Names of files with places that are filled when an operation is drawn: `photos/{n}-{k}.jpg`.

use std::fmt::Write;

/// What fills the places of a name: the same throughout one performance of an operation, so that its steps meet the same
/// file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers {
    /// `{n}`: the round, counted from 0.
    pub(crate) round: u64,
    /// `{k}`: how often the operation was performed in this round.
    pub(crate) turn: u64,
    /// `{s}`: how often the operation was performed at all.
    pub(crate) serial: u64,
    /// `{any:N}` and `{past}`: a random number, of which each takes what it needs.
    pub(crate) any: u64,
}

/// Fills the places of a name.
///
/// # Errors
/// What is wrong with the name, in words.
pub(crate) fn fill(name: &str, numbers: Numbers) -> Result<String, String> {
    let mut filled = String::with_capacity(name.len() + 8);
    let mut rest = name;
    while let Some((before, after)) = rest.split_once('{') {
        let (place, after) =
            after.split_once('}').ok_or_else(|| format!("'{name}' opens a brace that nothing closes"))?;
        let below = |bound: u64| ((u128::from(numbers.any) * u128::from(bound)) >> 64) as u64;
        let number = match place {
            "n" => numbers.round,
            "k" => numbers.turn,
            "s" => numbers.serial,
            "past" => below(numbers.serial.max(1)),
            _ => {
                let bound = place.strip_prefix("any:").and_then(|bound| bound.parse().ok()).filter(|bound| *bound > 0);
                below(bound.ok_or_else(|| {
                    format!("'{name}' has a place {{{place}}}\nhint: {{n}}, {{k}}, {{s}}, {{past}} or {{any:100}}")
                })?)
            }
        };
        filled.push_str(before);
        let _ = write!(filled, "{number}");
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

/// Says what is wrong with a name that would leave the directory that an app is played in.
pub(crate) fn check(name: &str) -> Result<(), String> {
    let filled = fill(name, Numbers { round: 0, turn: 0, serial: 0, any: 0 })?;
    let outside = filled.starts_with('/') || filled.split('/').any(|part| part == "..");
    let odd =
        filled.contains('\0') || filled.split('/').any(|part| part.is_empty() || part == ".") || filled.len() > 200;
    match (outside, odd) {
        (true, _) => Err(format!("'{name}' leads out of the directory\nhint: name files as in 'photos/{{n}}.jpg'")),
        (_, true) => Err(format!("'{name}' is no name of a file\nhint: name files as in 'photos/{{n}}.jpg'")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_filled_and_strange_names_refused() {
        let numbers = Numbers { round: 3, turn: 1, serial: 7, any: u64::MAX };
        assert_eq!(fill("a/{n}-{k}-{s}-{past}-{any:10}.x", numbers).as_deref(), Ok("a/3-1-7-6-9.x"));
        assert_eq!(fill("plain", numbers).as_deref(), Ok("plain"));
        for bad in ["/etc/passwd", "../x", "a/../../x", "{n", "{any:0}", "{m}", "a//b", "", "./a"] {
            assert!(check(bad).is_err(), "{bad}");
        }
        assert!(check("DCIM/{n}.jpg").is_ok() && check("a..b/..c").is_ok());
    }
}
