//! A record made readable: terminal text and one self-contained HTML page.
