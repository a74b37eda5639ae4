//! docs/sources.md.

use std::fmt::Write as _;

use headroom_companion::{ReferenceRow, engine_rows, engines, exporter_rows};

use crate::markdown::GENERATED;

pub(crate) fn page() -> String {
    let mut page = format!(
        "# What is read of engines and GPU exporters\n\n{GENERATED}\n\
         Where several metrics give the same attribute, the first that has a possible value counts. A value that is not \
         possible is missing and never clamped; a metric that is declared a counter where a gauge is meant is refused. \
         Metrics with colons in their names are found with underscores, too.\n\n\
         Series of one engine that differ in `tp_rank`, `pp_rank` or `moe_ep_rank` alone report one scheduler, and the \
         largest counts; all other series are ranks with work of their own, and are combined by the attribute's rule. A \
         sum that lacks a part is missing.\n\n\
         `headroom extract` shows what becomes of a scrape, and `custom` in the companion's config reads more.\n\n\
         ## Engines\n\n\
         Which engine a scrape is of is found out from what it holds, unless the config, or the endpoint's label \
         `llm-d.ai/engine-type`, says so with one of these names:\n\n"
    );
    for (name, aliases) in engines() {
        let also: Vec<String> = aliases.iter().map(|alias| format!("`{alias}`")).collect();
        let also = if also.is_empty() { String::new() } else { format!(" (also {})", also.join(", ")) };
        let _infallible = writeln!(page, "* `{name}`{also}");
    }
    tables(&mut page, &engine_rows());
    page.push_str(
        "\n## GPU exporters\n\n\
         Whose a GPU is says the config: its UUIDs, slots, MIG slices, labels or host. A card or slice that is listed for \
         several owners counts once for each. The line of a whole card is not a slice. Several GPUs of one endpoint are \
         combined by the attribute's rule in [attributes.md](attributes.md).\n",
    );
    tables(&mut page, &exporter_rows());
    page
}

fn tables(page: &mut String, rows: &[ReferenceRow]) {
    let mut source = "";
    for row in rows {
        if row.source != source {
            source = &row.source;
            let head = "| attribute | metric | value |\n| --- | --- | --- |";
            let _infallible = writeln!(page, "\n### {source}\n\n{head}");
        }
        let _infallible = writeln!(page, "| `{}` | {} | {} |", row.attribute, row.metric, row.how);
    }
}
