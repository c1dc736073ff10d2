//! Runs handed out over many hosts by NATS JetStream.
//!
//! [`Link`] is a connection to the server: TLS, or loopback, and a token that says who speaks. [`Streams`] keeps runs, plans and
//! records in JetStream, behind the trait that the queue of one host implements in SQLite. [`serve`] passes what agents and operators
//! ask to a [`flashscope_lab::Coordinator`], [`attend`] is an agent's side, [`Operator`] an operator's. All rules are in `lab`; here is
//! what carries them. An async runtime runs on the one thread that calls, and only while it waits.

mod attend;
mod clock;
mod engine;
mod error;
mod frame;
mod link;
mod operator;
mod serve;

pub use attend::{Ended, Pace, Shelf, attend};
pub use clock::now;
pub use engine::Streams;
pub use error::{HostsError, Kind};
pub use link::{Address, Link, Token};
pub use operator::Operator;
pub use serve::serve;

/// Subject of what agents ask; the name of the agent follows.
const ASK: &str = "flashscope.ask";
/// Subject of what operators ask.
const OPERATOR: &str = "flashscope.operator";
