//! The program as a browser and as an attacker see it: over a socket.
#![allow(missing_docs, clippy::print_stdout)]

mod entrance;
mod harness;
mod pages;
mod runs;
mod tls;
