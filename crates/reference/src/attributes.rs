//! docs/attributes.md.

use std::fmt::Write as _;

use headroom_datalayer::ATTRIBUTES;

use crate::markdown::GENERATED;

pub(crate) fn page() -> String {
    let mut page = format!(
        "# Attributes\n\n{GENERATED}\n\
         What is known of an endpoint. Each value carries the time it was measured; a value older than its \
         limit is missing, and a missing value is never read as zero. Pools (`maxAge`) and plugins (`maxAge`) \
         may set other limits. A number that cannot be (one below zero, a fraction above 1) is missing, too. Any \
         other name is a custom attribute with the limit of an engine's, and any finite number is one of its.\n\n\
         | attribute | unit | several sources | limit | meaning |\n| --- | --- | --- | --- | --- |\n"
    );
    for row in ATTRIBUTES {
        let combine = format!("{:?}", row.combine).to_lowercase();
        let limit = String::from(headroom_datalayer::SpanText(row.max_age));
        let _infallible =
            writeln!(page, "| `{}` | {} | {combine} | {limit} | {} |", row.name, row.unit, row.meaning);
    }
    page
}
