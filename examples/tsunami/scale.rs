//! The scales of a picture: numbers to colours, to places on an axis and to words. Draws nothing.

/// Signed square root: small waves stay visible beside large ones. Clamped to -1..1.
pub fn stretch(fraction: f64) -> f64 {
    fraction.abs().sqrt().min(1.0).copysign(fraction)
}

/// Blue below, white at, red above zero; `place` in -1..1.
pub fn colour(place: f64) -> [f32; 3] {
    let c = colorous::RED_BLUE.eval_continuous(0.5 - 0.5 * place.clamp(-1.0, 1.0));
    [f32::from(c.r), f32::from(c.g), f32::from(c.b)]
}

/// Elapsed time as hh:mm:ss.
pub fn clock(seconds: f64) -> String {
    let whole = seconds.max(0.0).round() as u64;
    format!("{:02}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60)
}

/// Multiples of 1, 0.5, 0.2 or 0.1 degrees: the widest step that gives at least four.
pub fn ticks([from, to]: [f64; 2]) -> Vec<f64> {
    let count = |per_degree: f64| (to * per_degree).floor() - (from * per_degree).ceil() + 1.0;
    let per_degree = [1.0, 2.0, 5.0].into_iter().find(|&p| count(p) >= 4.0).unwrap_or(10.0);
    let first = (from * per_degree).ceil() as i64;
    (first..=(to * per_degree).floor() as i64).map(|k| k as f64 / per_degree).collect()
}

/// A coordinate with its direction, as in `48.5° N`.
pub fn degrees(value: f64, positive: &str, negative: &str) -> String {
    let side = if value < 0.0 { negative } else { positive };
    format!("{}\u{b0} {side}", value.abs())
}

/// Round values from 0 to the range, at least `gap` (a fraction of half the bar) apart, and their negatives.
pub fn bar_ticks(range: f64, gap: f64) -> Vec<f64> {
    let decades = (-3..4).flat_map(|e| [1.0, 2.0, 5.0].map(|m| m * 10f64.powi(e)));
    let mut kept = vec![0.0];
    for metres in decades.map(|m| (m * 1e4).round() / 1e4) {
        let place = stretch(metres / range);
        let free_below = place - stretch(kept[kept.len() - 1] / range) >= gap;
        if free_below && 1.0 - place >= gap {
            kept.push(metres);
        }
    }
    kept.push(range);
    kept.iter().skip(1).map(|m| -m).chain(kept.iter().copied()).collect()
}
