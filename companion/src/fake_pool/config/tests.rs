use super::*;

#[test]
fn a_short_file_is_enough() {
    let config = parse("endpoints: [{}, {}]").expect("valid");
    assert_eq!(config.exporter, "127.0.0.1:9400".parse().expect("an address"));
    let names: Vec<_> = config.endpoints.iter().map(|endpoint| endpoint.name.as_str()).collect();
    assert_eq!(names, ["endpoint-0", "endpoint-1"]);
    let second = config.endpoints.last().expect("two");
    assert_eq!(second.models, ["fake-model"]);
    assert_eq!(second.limits.max_model_len, 4096 * 16);
    let gpu = Gpu { uuid: "GPU-00000000-0000-4000-8000-000000000001".into(), index: 1, memory_mib: 81_559 };
    assert_eq!(second.gpu, gpu);
}

#[test]
fn an_endpoint_overrides_the_top_level() {
    let config = parse(
        r#"
seed: 7
model: [llama, llama-lora]
exporter: {listen: "127.0.0.1:0"}
kvBlocks: 100
speed: 2
endpoints:
  - {name: slow, listen: "127.0.0.1:0", speed: 0.5, gpuLoad: 0.25, gpu: {uuid: GPU-a, index: 7}}
  - {name: plain, listen: "127.0.0.1:0", kvBlocks: 50, maxModelLen: 300, model: other}
"#,
    )
    .expect("valid");
    let [slow, plain] = config.endpoints.as_slice() else { panic!("two endpoints") };
    assert_eq!(slow.condition, Condition { speed: 0.5, gpu_load: 0.25 });
    assert_eq!((slow.limits.kv_blocks, slow.limits.max_model_len), (100, 1600));
    assert_eq!(slow.models, ["llama", "llama-lora"]);
    assert_eq!(plain.condition, Condition { speed: 2.0, gpu_load: 0.0 });
    assert_eq!((plain.limits.kv_blocks, plain.limits.max_model_len), (50, 300));
    assert_eq!(plain.models, ["other"]);
    assert_ne!(slow.seed, plain.seed);
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let errors = parse(
        r#"
sped: 1
jitter: 0.9
maxRunning: many
exporter: {listen: here}
endpoints:
  - {name: "a b", speed: 0, listen: "127.0.0.1:7001"}
  - {name: b, gpu: {uuid: GPU-x}, listen: "127.0.0.1:7001", maxBatchedTokens: 8}
  - {name: b, gpu: {uuid: GPU-x, colour: red}, kvBlocks: 0, model: []}
"#,
    )
    .expect_err("invalid");
    let said: Vec<String> = errors.iter().map(ToString::to_string).collect();
    for start in [
        "sped: 1: unknown field",
        "maxRunning: \"many\": invalid type",
        "jitter: 0.9: must be from 0 to 0.5",
        "exporter.listen: \"here\": must be an ip:port",
        "endpoints[0].name: \"a b\": must be 1 to 63 letters",
        "endpoints[0].speed: 0: must be from 0.01 to 100",
        "endpoints[1].listen: \"127.0.0.1:7001\": is taken",
        "endpoints[1].maxBatchedTokens: 8: must be at least maxRunning",
        "endpoints[2].name: \"b\": is taken",
        "endpoints[2].gpu.uuid: \"GPU-x\": is taken",
        "endpoints[2].gpu.colour: \"red\": unknown field",
        "endpoints[2].kvBlocks: 0: must be from 1 to 10000000",
        "endpoints[2].model: []: must be a name",
    ] {
        assert_eq!(said.iter().filter(|line| line.starts_with(start)).count(), 1, "{start} in {said:#?}");
    }
    assert_eq!(said.len(), 13, "{said:#?}");
}

#[test]
fn a_pool_without_endpoints_is_refused() {
    assert_eq!(parse("{}").expect_err("invalid").to_string(), "endpoints: must list at least one endpoint");
}
