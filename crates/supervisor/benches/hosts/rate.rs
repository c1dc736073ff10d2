//! How fast the engine keeps messages, beside appends to a file on the same disk that are each synced.

use crate::Outcome;
use crate::rig::Rig;
use flashscope_hosts::{Streams, Token};
use flashscope_lab::Archive;
use flashscope_testkit::Targets;
use std::fs::File;
use std::io::{Stdout, Write};
use std::rc::Rc;
use std::time::Instant;

/// In turns, so that what else the machine does falls on both alike.
const TURNS: usize = 12;
const IN_TURN: usize = 50;
/// A run's state, a small record, a large one (compressed).
const SIZES: [usize; 3] = [700, 8 << 10, 64 << 10];

pub(crate) fn measure(targets: &mut Targets<Stdout>) -> Outcome {
    let mut rig = Rig::new("rate", None)?;
    rig.server()?;
    let token = Token::read(&rig.path("nats/tokens/coordinator"))?;
    let mut streams = Streams::open(Rc::new(rig.linked(&token)?), 60_000)?;
    let mut file = File::create(rig.path("appended"))?;
    println!("size, bytes | messages per s | synced appends per s | ratio");
    for size in SIZES {
        let (mut kept, mut appended) = (0.0, 0.0);
        for turn in 0..TURNS {
            let bytes = noise(size, turn as u64);
            let began = Instant::now();
            for number in 0..IN_TURN {
                streams.keep_record(&format!("{size}-{turn}-{number}"), "x", &bytes)?;
            }
            kept += began.elapsed().as_secs_f64();
            let began = Instant::now();
            for _ in 0..IN_TURN {
                file.write_all(&bytes)?;
                file.sync_all()?;
            }
            appended += began.elapsed().as_secs_f64();
        }
        let number = (TURNS * IN_TURN) as f64;
        println!("{size:>11} | {:>14.0} | {:>20.0} | {:.2}", number / kept, number / appended, appended / kept);
        targets.at_least(&format!("synced messages of {size} bytes over synced appends"), 0.5, appended / kept, "")?;
    }
    Ok(())
}

/// Bytes that compression does not make smaller.
fn noise(size: usize, seed: u64) -> Vec<u8> {
    let mut rng = flashscope_stats::Rng::new(seed + 1);
    (0..size).map(|_| rng.below(256) as u8).collect()
}
