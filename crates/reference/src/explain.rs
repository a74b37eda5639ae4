//! docs/explain.md.

use headroom_scheduling::Explanation;

use crate::{configuration, markdown};

const SNAPSHOT: &str = include_str!("../../../companion/examples/explain/snapshot.json");
const REQUEST: &str = include_str!("../../../companion/examples/explain/request.json");

pub(crate) fn page() -> String {
    let mut page = format!(
        "# `headroom explain`\n\n{}\n\
         Answers \"why this endpoint?\" in two ways. Both print a table, or JSON with `--json`.\n\n\
         * What would be decided, without Envoy: the filter's own scheduler decides over a pool's state and a \
         request that you write down. All chance comes from `--seed`, so the same files and seed give the same \
         decision.\n\n\
         ```\nheadroom explain --config plugin.json --snapshot snapshot.json --request request.json\n```\n\n\
         * What was decided: every decision in an access log (or on stdin, with `-`) whose format has \
         `%FILTER_STATE(wasm.headroom_decision:PLAIN)%`, or in what the header of `explain.responseHeader` said.\n\n\
         ```\nheadroom explain --decision access.log\n```\n\n\
         Faults of the files are printed as `file: error: path: value: reason`, and the exit code is 1; it is 2 \
         when a file cannot be read. An example of each file is in \
         [companion/examples/explain](../companion/examples/explain).\n\n\
         * [`--snapshot`](#--snapshot)\n* [`--request`](#--request)\n* [The decision as JSON](#the-decision-as-json)\n\n",
        markdown::GENERATED
    );
    let decision = schemars::schema_for!(Explanation).to_value();
    for (title, example, schema) in [
        ("`--snapshot`", SNAPSHOT, headroom_companion::explain_snapshot_schema()),
        ("`--request`", REQUEST, headroom_companion::explain_request_schema()),
        ("The decision as JSON", "", decision),
    ] {
        page.push_str(&configuration::file(title, &schema));
        if !example.is_empty() {
            page.push_str(&format!("For example:\n\n```json\n{}\n```\n\n", example.trim_end()));
        }
    }
    page.trim_end().to_owned() + "\n"
}
