use super::*;

fn imported(yaml: &str) -> (Option<serde_json::Value>, Vec<String>) {
    let head = "apiVersion: llm-d.ai/v1alpha1\nkind: EndpointPickerConfig\n";
    let (config, findings) = import(&format!("{head}{yaml}"), &Names::default());
    let config = config.map(|text| serde_json::from_str(&text).expect("JSON"));
    (config, findings.iter().map(ToString::to_string).collect())
}

#[test]
fn older_types_and_words_become_todays() {
    let (config, findings) = imported(
        "plugins:
- {type: by-label, name: fast, parameters: {label: tier, validValues: [a, b]}}
- {type: by-label, name: decoders, parameters: {label: llm-d.ai/role, validValues: [decode, both], allowsNoLabel: true}}
- {type: endpoint-attribute-filter, parameters: {attribute: GPUUtilization, onMissing: Fail, algorithm: {type: threshold, threshold: {operator: LessThan, value: 0.9}}}}
",
    );
    let plugins = config.expect("imports")["pools"][0]["plugins"].clone();
    assert_eq!(plugins[0]["type"], "label-selector-filter");
    assert_eq!(plugins[0]["name"], "fast");
    assert_eq!(plugins[0]["parameters"]["matchExpressions"][0]["operator"], "In");
    assert_eq!(plugins[1]["type"], "decode-filter");
    assert_eq!(plugins[2]["parameters"]["onMissing"], "exclude");
    assert_eq!(findings.len(), 1, "{findings:?}");
}

#[test]
fn errors_name_the_place_in_the_source() {
    let (config, findings) = imported(
        "plugins:
- {type: openai-parser}
- {type: qeue-scorer}
- {type: latency-scorer}
- {type: load-aware-scorer, parameters: {treshold: 3}}
schedulingProfiles:
- {name: default, plugins: [{pluginRef: openai-parser}, {pluginRef: nobody}]}
bogus: 1
",
    );
    assert_eq!(config, None);
    let all = findings.join("\n");
    for part in [
        "warning: plugins[0].type: openai-parser: left out: a parser",
        "error: plugins[1].type: qeue-scorer: unknown type; was queue-scorer meant?",
        "error: plugins[2].type: latency-scorer: has no counterpart",
        "error: plugins[3].parameters.treshold",
        "error: schedulingProfiles[0].plugins[1].pluginRef: \"nobody\"",
        "error: bogus: llm-d's EndpointPickerConfig has no such field",
    ] {
        assert!(all.contains(part), "{part}\n{all}");
    }
}

#[test]
fn only_what_llm_d_knows_is_left_out() {
    for (kind, part) in [
        ("openai-parser", "warning: plugins[0].type: openai-parser: left out"),
        ("openai-paser", "error: plugins[0].type: openai-paser: unknown type; was openai-parser meant?"),
        ("inflight-load-producr", "error: plugins[0].type: inflight-load-producr: unknown type; was"),
        ("my-own-policy", "error: plugins[0].type: \"my-own-policy\": unknown type; known are "),
        ("my-own-producer", "error: plugins[0].type: \"my-own-producer\": unknown type"),
        ("multicluster-queue-scorer", "has no counterpart here: a pool is one cluster's"),
    ] {
        let (_, findings) = imported(&format!("plugins: [{{type: {kind}}}, {{type: queue-scorer}}]\n"));
        assert!(findings.iter().any(|finding| finding.contains(part)), "{part}\n{findings:?}");
    }
}

#[test]
fn every_spelling_of_the_deciders_is_understood() {
    let nested = "{deciders: {prefill: prefix-based-pd-decider}}";
    for parameters in [
        nested,
        "{deciderPluginName: prefix-based-pd-decider}",
        "{prefillDeciderPluginName: prefix-based-pd-decider, prefillProfile: prefill, decodeProfile: decode}",
    ] {
        let (config, findings) = imported(&format!(
            "plugins:
- {{type: disagg-profile-handler, parameters: {parameters}}}
- {{type: prefix-based-pd-decider, parameters: {{nonCachedTokens: 16}}}}
- {{type: prefill-filter}}
- {{type: decode-filter}}
schedulingProfiles:
- {{name: prefill, plugins: [{{pluginRef: prefill-filter}}]}}
- {{name: decode, plugins: [{{pluginRef: decode-filter}}]}}
"
        ));
        let config = config.unwrap_or_else(|| panic!("{findings:?}"));
        let decider = &config["pools"][0]["plugins"][0]["parameters"]["deciders"]["prefill"];
        assert_eq!(decider, "prefix-based-pd-decider", "{parameters}");
    }
}

#[test]
fn nothing_at_all_is_llm_ds_default() {
    let (config, findings) = imported("");
    let profile = config.expect("imports")["pools"][0]["schedulingProfiles"][0].clone();
    assert_eq!(profile["plugins"][2], serde_json::json!({"pluginRef": "prefix-cache-scorer", "weight": 3}));
    assert_eq!(findings.len(), 1);
}
