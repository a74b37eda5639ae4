//! The text form: `a=b,c in (d,e),!f,g!=h,i notin (j),k`.

use super::{Condition, InvalidSelector, Requirement};

/// Reads a comma-separated list of requirements; blanks around anything are allowed.
pub(super) fn parse(text: &str) -> Result<Vec<Requirement>, InvalidSelector> {
    split_outside_parentheses(text)?.into_iter().map(|part| requirement(part.trim())).collect()
}

fn split_outside_parentheses(text: &str) -> Result<Vec<&str>, InvalidSelector> {
    let mut parts = Vec::new();
    let mut rest = text;
    let mut inside = false;
    let mut from = 0;
    while let Some(found) = rest.get(from..).and_then(|tail| tail.find([',', '(', ')'])) {
        let at = from + found;
        match rest.as_bytes().get(at) {
            Some(b'(') if !inside => inside = true,
            Some(b')') if inside => inside = false,
            Some(b',') if inside => {}
            Some(b',') => {
                let (part, tail) = rest.split_at(at);
                parts.push(part);
                rest = tail.get(1..).unwrap_or_default();
                from = 0;
                continue;
            }
            _ => return Err(InvalidSelector(format!("parentheses do not match in {text:?}"))),
        }
        from = at + 1;
    }
    if inside {
        return Err(InvalidSelector(format!("parentheses do not match in {text:?}")));
    }
    parts.push(rest);
    if parts.len() == 1 && text.trim().is_empty() {
        parts.clear();
    }
    Ok(parts)
}

fn requirement(text: &str) -> Result<Requirement, InvalidSelector> {
    if let Some(key) = text.strip_prefix('!') {
        return build(key, Condition::DoesNotExist, text);
    }
    if let Some((key, value)) = text.split_once("!=") {
        return build(key, Condition::NotIn(vec![one_value(value, text)?]), text);
    }
    if let Some((key, value)) = text.split_once("==").or_else(|| text.split_once('=')) {
        return build(key, Condition::In(vec![one_value(value, text)?]), text);
    }
    if let Some((head, list)) = text.split_once('(') {
        let values: Vec<String> =
            list.trim_end().trim_end_matches(')').split(',').map(|value| value.trim().to_owned()).collect();
        if values.iter().any(|value| !plain(value)) || !text.ends_with(')') {
            return Err(InvalidSelector(format!("{text:?} has a value list that is not of the form (a,b)")));
        }
        return match head.trim_end().rsplit_once(char::is_whitespace) {
            Some((key, "in")) => build(key, Condition::In(values), text),
            Some((key, "notin")) => build(key, Condition::NotIn(values), text),
            _ => Err(InvalidSelector(format!("{text:?}: expected \"in\" or \"notin\" before the list"))),
        };
    }
    build(text, Condition::Exists, text)
}

fn one_value(value: &str, text: &str) -> Result<String, InvalidSelector> {
    let value = value.trim();
    if value.is_empty() || plain(value) {
        Ok(value.to_owned())
    } else {
        Err(InvalidSelector(format!("{text:?}: {value:?} is not a label value")))
    }
}

/// Label keys and values have letters, digits, `-`, `_`, `.`; keys also one `/`.
fn plain(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./".contains(&b))
}

fn build(key: &str, condition: Condition, text: &str) -> Result<Requirement, InvalidSelector> {
    let key = key.trim();
    if plain(key) {
        Ok(Requirement { key: key.to_owned(), condition })
    } else if text.is_empty() {
        Err(InvalidSelector("there is an empty requirement: a comma too many".to_owned()))
    } else {
        Err(InvalidSelector(format!(
            "{text:?} is not a requirement: expected key=value, key!=value, key in (a,b), key notin (a,b), key or !key"
        )))
    }
}
