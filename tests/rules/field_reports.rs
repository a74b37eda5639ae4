//! What docs/field-reports.md says is tested, is.

use headroom_testbed::binaries::repository;

#[test]
fn every_test_that_the_page_names_is_there() {
    let page = std::fs::read_to_string(repository().join("docs/field-reports.md")).expect("the page");
    let mut named = 0;
    for row in page.lines().filter(|line| line.starts_with("| ") && line.contains(".rs`")) {
        let mut source = String::new();
        for word in row.split('`').skip(1).step_by(2) {
            if word.contains('/') {
                source = std::fs::read_to_string(repository().join(word)).expect(word);
            } else if !word.contains(['-', ' ']) && word.contains('_') && word != "exported_pod" {
                assert!(source.contains(&format!("fn {word}(")), "{word} is not where the page says: {row}");
                named += 1;
            }
        }
    }
    assert!(named > 30, "{named} tests were found on the page");
}
