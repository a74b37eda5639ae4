//! Writes a sample as an exporter would. The fuzz target uses it too.

use super::Sample;

/// The sample's line in OpenMetrics, without a line end.
pub(crate) fn print(sample: &Sample<'_>) -> String {
    let labels = sample.labels.iter().map(|label| {
        let value = label.value.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n");
        let name = if is_plain(label.name, false) { label.name.to_owned() } else { quote(label.name) };
        format!("{name}=\"{value}\"")
    });
    let (outside, inside) =
        if is_plain(sample.name, true) { (sample.name, None) } else { ("", Some(quote(sample.name))) };
    let braces: Vec<String> = inside.into_iter().chain(labels).collect();
    let braces = if braces.is_empty() { String::new() } else { format!("{{{}}}", braces.join(",")) };
    let time = sample.timestamp_micros.map(|micros| format!(" {}", seconds(micros))).unwrap_or_default();
    format!("{outside}{braces} {}{time}", sample.value)
}

/// Exactly, whatever the size.
fn seconds(micros: i64) -> String {
    let (sign, micros) = (if micros < 0 { "-" } else { "" }, micros.unsigned_abs());
    format!("{sign}{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

fn quote(name: &str) -> String {
    format!("\"{name}\"")
}

fn is_plain(name: &str, metric: bool) -> bool {
    let belongs = |c: char| c.is_ascii_alphanumeric() || c == '_' || (metric && c == ':');
    name.chars().all(belongs) && !name.starts_with(|c: char| c.is_ascii_digit())
}
