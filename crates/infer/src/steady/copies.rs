//! What a drive copies for each random write, by how much of it is spare.
//!
//! Places are written at random, each as likely as any. A block that was filled t spans of writes ago still holds e^−t of what it held,
//! whatever it holds; so the block that holds least is the one that was filled first, and a drive that always collects the emptiest
//! block collects them in the order of filling (Desnoyers, *Analytic modeling of SSD write performance*, 2012; Menon and Stockmeyer,
//! *An age-threshold algorithm*, 1998). To write one block's worth, 1 / (1 − v) blocks have to be freed that hold v each.
//!
//! All amounts are in spans. The beginning: everything holds what was written in order, `spare` is empty.

/// Spare space of what is tried: less than the least drive keeps, and as much as half the flash.
pub(super) const LEAST_SPARE: f64 = 0.02;
pub(super) const MOST_SPARE: f64 = 1.0;

/// Writes in one step, in spans.
const STEP: f64 = 0.002;

/// Beyond what was written the course is followed for so long, in which everything is collected more than once.
const BEYOND: f64 = 2.0;

/// A block that holds more than this is hardly worth collecting; the law has a pole at 1.
const FULLEST: f64 = 0.98;

/// The course of copies for one spare space.
pub(super) struct Spared {
    /// Copies that were made until the end of each step.
    copied: Vec<f64>,
    /// Copies for each write in the end.
    pub(super) in_the_end: f64,
}

impl Spared {
    /// Followed from the first random write on, until after so many spans and further.
    pub(super) fn of(spare: f64, until: f64) -> Spared {
        let steps = ((until + BEYOND) / STEP) as usize;
        // Blocks that were filled until the end of each step. What is filled first is collected first: a block is collected when
        // `spare` and all that was there at first was filled after it.
        let (mut filled, mut copied) = (Vec::with_capacity(steps), Vec::with_capacity(steps));
        let (mut all, mut copies, mut born) = (0.0, 0.0, 0);
        for step in 0..steps {
            let now = step as f64 * STEP;
            let mut each = 0.0;
            if all >= spare {
                // The next block to be collected: of those that were there at first, or of those filled since.
                let since = all - spare - 1.0;
                while born < step && filled[born] < since {
                    born += 1;
                }
                let age = if since < 0.0 { now } else { now - born as f64 * STEP };
                let holds = (-age).exp().min(FULLEST);
                each = holds / (1.0 - holds);
            }
            all += STEP * (1.0 + each);
            copies += STEP * each;
            filled.push(all);
            copied.push(copies);
        }
        Spared { copied, in_the_end: in_the_end(spare) }
    }

    /// Copies for each write, between two points.
    pub(super) fn between(&self, from: f64, until: f64) -> f64 {
        (self.until(until) - self.until(from)) / (until - from)
    }

    /// Spans after which what is copied for each write is always as wanted.
    pub(super) fn settles(&self, is_wanted: impl Fn(f64) -> bool) -> f64 {
        let each = |step: usize| (self.copied[step] - self.copied[step - 1]) / STEP;
        let last = (1..self.copied.len()).rev().find(|step| !is_wanted(each(*step)));
        last.map_or(0.0, |step| step as f64 * STEP)
    }

    fn until(&self, at: f64) -> f64 {
        let place = at / STEP;
        let value = |step: usize| match step {
            0 => 0.0,
            step => self.copied[(step - 1).min(self.copied.len() - 1)],
        };
        let step = place as usize;
        value(step) + (value(step + 1) - value(step)) * (place - step as f64)
    }
}

/// Copies for each write once blocks of every age follow each other: v = e^−(1 + spare)(1 − v).
fn in_the_end(spare: f64) -> f64 {
    let too_low = |holds: f64| holds < (-(1.0 + spare) * (1.0 - holds)).exp();
    // The other solution is 1, where nothing is ever free.
    let (mut low, mut high) = (0.0, 1.0 / (1.0 + spare));
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if too_low(middle) { low = middle } else { high = middle }
    }
    low / (1.0 - low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_as_published_and_as_followed() {
        // Write amplification of collecting in order at a ratio of flash to data of 1.3: 2.36 (see docs/devices.md).
        assert!((1.0 + in_the_end(0.3) - 2.36).abs() < 0.01, "{}", in_the_end(0.3));
        for spare in [0.07, 0.15, 0.28, 0.6] {
            let followed = Spared::of(spare, 6.0).between(5.0, 6.0);
            assert!((followed / in_the_end(spare) - 1.0).abs() < 0.05, "{spare}: {followed}, {}", in_the_end(spare));
        }
    }

    #[test]
    fn nothing_is_copied_while_there_is_room() {
        let law = Spared::of(0.2, 1.0);
        assert_eq!(law.between(0.0, 0.19), 0.0);
        assert!(law.between(0.2, 0.21) > law.in_the_end);
        let settled = law.settles(|copies| (copies / law.in_the_end - 1.0).abs() < 0.1);
        assert!((0.2..1.0).contains(&settled), "{settled}");
    }
}
