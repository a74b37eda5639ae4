use super::*;
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
use wasm_bindgen_test::wasm_bindgen_test as test;

fn labels(text: &str) -> BTreeMap<String, String> {
    text.split_whitespace()
        .filter_map(|pair| pair.split_once('='))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}

#[track_caller]
fn check(selector: &str, matching: &[&str], failing: &[&str]) {
    let selector: LabelSelector = selector.parse().expect("a selector");
    for text in matching {
        assert!(selector.first_unmet(&labels(text)).is_none(), "{selector} should match {text}");
    }
    for text in failing {
        assert!(selector.first_unmet(&labels(text)).is_some(), "{selector} should not match {text}");
    }
    let again: LabelSelector = selector.to_string().parse().expect("prints a selector");
    assert_eq!(again, selector, "printing and reading gives the same selector");
}

#[test]
fn the_text_form_means_what_kubernetes_means() {
    check("", &["", "a=b"], &[]);
    check("a=b", &["a=b", "a=b c=d"], &["", "a=c"]);
    check("a==b", &["a=b"], &["a=c"]);
    check("a!=b", &["", "a=c"], &["a=b"]);
    check("a in (b, c)", &["a=b", "a=c"], &["", "a=d"]);
    check("a notin (b,c)", &["", "a=d"], &["a=b"]);
    check("a", &["a=b"], &["", "c=d"]);
    check("!a", &["", "c=d"], &["a=b"]);
    check(
        "llm-d.ai/model-family=qwen,llm-d.ai/serving-role in (decode,both),!spot",
        &["llm-d.ai/model-family=qwen llm-d.ai/serving-role=both"],
        &[
            "llm-d.ai/model-family=qwen llm-d.ai/serving-role=prefill",
            "llm-d.ai/model-family=qwen llm-d.ai/serving-role=decode spot=1",
            "llm-d.ai/serving-role=decode",
        ],
    );
}

#[test]
fn what_is_no_selector_is_refused_with_the_part_that_is_wrong() {
    for (text, part) in [
        ("a=b,", "comma too many"),
        ("a in b", "a in b"),
        ("a in (b", "parentheses"),
        ("a) in (b", "parentheses"),
        ("a in ()", "value list"),
        ("a of (b)", "\"in\" or \"notin\""),
        ("=b", "requirement"),
        ("a=b c", "label value"),
        ("a b", "requirement"),
    ] {
        let error = text.parse::<LabelSelector>().expect_err(text).to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}

#[test]
fn expressions_check_their_values() {
    let expression = |operator, values: &[&str]| Expression {
        key: "k".into(),
        operator,
        values: values.iter().map(|v| (*v).to_owned()).collect(),
    };
    let mut selector = LabelSelector::default();
    assert!(selector.require(expression(ExpressionOperator::In, &[])).is_err());
    assert!(selector.require(expression(ExpressionOperator::Exists, &["v"])).is_err());
    assert!(selector.require(expression(ExpressionOperator::NotIn, &["v"])).is_ok());
    assert_eq!(selector.to_string(), "k!=v");
}
