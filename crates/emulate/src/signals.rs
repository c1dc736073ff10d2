//! The signals that an emulator listens to, and those that every run stops at.
//!
//! They are blocked in the thread that asks for them and in all that it starts, and taken by one that does nothing else:
//! no handler runs anywhere.

use nix::sys::signal::{SigSet, Signal};
use std::io;
use std::sync::mpsc::{Receiver, channel};

/// What the operator asks for by a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperatorRequest {
    /// SIGINT, SIGTERM, SIGHUP: to end.
    Stop,
    /// SIGUSR1: to see the statistics.
    Show,
    /// SIGPWR: to cut the power of the device.
    PowerCut,
    /// SIGUSR2: to switch a device on again that lost its power or went away.
    PowerOn,
}

/// From now on wishes come here. To be called before any other thread is started.
///
/// # Errors
/// No further thread can be started.
pub fn listen() -> io::Result<Receiver<OperatorRequest>> {
    taken([Signal::SIGUSR1, Signal::SIGUSR2, Signal::SIGPWR].into_iter().chain(STOPS).collect())
}

/// The same where stopping is all that can be wished for.
///
/// # Errors
/// As [`listen`].
pub fn listen_for_stop() -> io::Result<Receiver<OperatorRequest>> {
    taken(STOPS.into_iter().collect())
}

/// Signals that end an emulation.
const STOPS: [Signal; 3] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];

fn taken(set: SigSet) -> io::Result<Receiver<OperatorRequest>> {
    set.thread_block()?;
    let (sender, receiver) = channel();
    let forward = move || {
        while let Ok(signal) = set.wait() {
            let request = match signal {
                Signal::SIGUSR1 => OperatorRequest::Show,
                Signal::SIGUSR2 => OperatorRequest::PowerOn,
                Signal::SIGPWR => OperatorRequest::PowerCut,
                _ => OperatorRequest::Stop,
            };
            if sender.send(request).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(forward)?;
    Ok(receiver)
}
