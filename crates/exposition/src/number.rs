//! Values and times.

/// More digits may need rounding on the way into an `f64`.
const EXACT_DIGITS: usize = 15;
/// The powers of ten that go with [`EXACT_DIGITS`]; each is exact.
const POWERS: [f64; EXACT_DIGITS + 1] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// Reads a value as Prometheus does: decimals, exponents, `NaN` without a sign and `Inf` or `Infinity`
/// with or without one, in any case. A number beyond the range of an `f64` is none.
pub(crate) fn read_value(word: &str) -> Option<f64> {
    if let Some(value) = read_short(word) {
        return Some(value);
    }
    let value: f64 = word.parse().ok()?;
    let means_it = value.is_finite() || !word.contains(|c: char| c.is_ascii_digit());
    let signed_nan = value.is_nan() && word.starts_with(['+', '-']);
    (means_it && !signed_nan).then_some(value)
}

/// Digits with at most one point among them, few enough that the quotient of two exact numbers is the
/// closest `f64`. Nearly every value is one.
fn read_short(word: &str) -> Option<f64> {
    if word.len() > EXACT_DIGITS + 1 {
        return None;
    }
    let mut digits = 0_u64;
    let mut count = 0_usize;
    let mut point = None;
    for byte in word.bytes() {
        match byte {
            b'0'..=b'9' => {
                digits = digits * 10 + u64::from(byte - b'0');
                count += 1;
            }
            b'.' if point.is_none() => point = Some(count),
            _ => return None,
        }
    }
    if count == 0 || count > EXACT_DIGITS {
        return None;
    }
    let scale = POWERS.get(count - point.unwrap_or(count))?;
    Some(digits as f64 / scale)
}

/// Microseconds, of whole milliseconds.
pub(crate) fn read_milliseconds(word: &str) -> Option<i64> {
    word.parse::<i64>().ok()?.checked_mul(1_000)
}

/// Microseconds, of seconds.
pub(crate) fn read_seconds(word: &str) -> Option<i64> {
    read_plain_seconds(word).or_else(|| micros_from_seconds(read_value(word)?))
}

/// Seconds without an exponent: exact in any century. What is below a microsecond is cut off.
fn read_plain_seconds(word: &str) -> Option<i64> {
    let (is_negative, digits) = match word.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, word),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let is_plain = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_plain(whole) || !is_plain(fraction) {
        return None;
    }
    let fraction = fraction.get(..6).unwrap_or(fraction);
    let unit = 10_i64.pow(6 - u32::try_from(fraction.len()).ok()?);
    let micros = whole.parse::<i64>().ok()?.checked_mul(1_000_000)?;
    let micros = micros.checked_add(fraction.parse::<i64>().ok()? * unit)?;
    Some(if is_negative { -micros } else { micros })
}

fn micros_from_seconds(seconds: f64) -> Option<i64> {
    let micros = (seconds * 1e6).round();
    // Beyond this an f64 skips microseconds; the year is 2255.
    (micros.abs() <= 9e15).then(|| {
        #[expect(clippy::cast_possible_truncation, reason = "a whole number that fits, by the check before")]
        let micros = micros as i64;
        micros
    })
}
