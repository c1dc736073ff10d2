//! The load engine: how fast a device or file system really is, at any depth.
//!
//! A [`job::Job`] says what is asked for, [`plan::resolve`] what will be done. Each of its workers is a state machine
//! ([`worker::Worker`]) that knows no device, thread or clock: on a host [`drive::drive`] runs it along a
//! [`flashscope_device::Lane`] in a thread of its own, on a simulated device [`simulate::simulate`] steps all of them in
//! virtual time. What they write down ([`record::Recorder`])
//! becomes plain data in [`outcome`], and [`evidence`] says whether it is the device's.
//!
//! ```
//! use flashscope_load::file::{JobText, parse};
//! use flashscope_load::plan::{Limits, resolve};
//! use flashscope_units::Bytes;
//!
//! let set = parse("[[job]]\nname = 'reads'\nrw = 'randread'\nbs = '16k'\ncount = 500\n", &JobText::default(), &JobText::default()).unwrap();
//! let job = &set.phases[0].jobs[0];
//! // What was left open is filled in, and what cannot be is refused before anything runs.
//! let card = Limits { capacity: Bytes::gib(8), granularity: Bytes::SECTOR };
//! assert_eq!(resolve(job, card).unwrap().parts.len(), 1);
//! let tiny = Limits { capacity: Bytes::kib(8), granularity: Bytes::SECTOR };
//! assert!(resolve(job, tiny).is_err());
//! ```
//!
//! Nothing here does I/O or knows a clock, and nothing between the first request and the last allocates.

#![forbid(unsafe_code)]

pub mod budget;
pub mod control;
pub mod drive;
pub mod evidence;
pub mod file;
pub mod fio;
pub mod generations;
pub mod histogram;
pub mod job;
pub mod outcome;
pub mod pattern;
pub mod plan;
pub mod record;
pub mod series;
pub mod simulate;
pub mod steady;
pub mod worker;
