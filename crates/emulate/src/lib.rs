//! A simulated device as a real Linux block device, paced in real time.
