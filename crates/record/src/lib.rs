//! The versioned wire format of a run: JSON and its schema.
