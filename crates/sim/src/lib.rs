//! Simulated flash devices on virtual time whose inside is known.

mod au_log;
mod ftl;
mod model;
mod text;
