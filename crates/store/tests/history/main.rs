//! The program from outside: what it keeps, what it answers, and that nothing is lost.

mod damage;
mod datasets;
mod disks;
mod harness;
mod keeping;
mod layouts;
mod processes;
mod tables;
mod trend;
