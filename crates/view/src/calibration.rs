//! Confidence against truth, as it is drawn.

use flashscope_model::fleet::Bin;

/// Mean confidence, share right with Wilson's 95 % interval (JASA 22, 1927), claims.
pub fn dot(bin: &Bin) -> Option<(f64, f64, f64, f64, u32)> {
    const Z: f64 = 1.96;
    let (stated, right, n) = (bin.stated?, bin.share_right()?, f64::from(bin.claims));
    let centre = (right + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let half = Z / (1.0 + Z * Z / n) * (right * (1.0 - right) / n + Z * Z / (4.0 * n * n)).sqrt();
    Some((stated, right, (centre - half).max(0.0), (centre + half).min(1.0), bin.claims))
}
