//! Linux block devices and files, their identity, who uses them, and the real clock.
