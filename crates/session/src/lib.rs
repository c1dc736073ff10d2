//! One adaptive run on one target: budget, consent, probes, inference, progress.
