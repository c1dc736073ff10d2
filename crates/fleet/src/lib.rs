//! Thousands of random simulated devices: how often is the inference right.
