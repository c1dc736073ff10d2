//! Simulated flash devices on virtual time whose inside is known.
