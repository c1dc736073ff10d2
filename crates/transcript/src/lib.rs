//! Reading and writing flashbench's text formats.
