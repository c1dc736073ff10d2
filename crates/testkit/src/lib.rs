//! Fixtures and faulty targets for the tests of the other crates.
