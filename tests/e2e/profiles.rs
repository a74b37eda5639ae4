//! Several profiles in llm-d's form, and the handlers that choose among them.

use anyhow::ensure;
use headroom_testbed::http;
use headroom_tests::{Outcome, Recorder, World};
use serde_json::{Value, json};

const PREFILL: &str = "x-prefiller-host-port";

fn role(role: &str) -> Value {
    json!({"llm-d.ai/role": role})
}

/// A pool whose profiles are two stages, and the handler of them.
fn stages(handler: Value, further: Vec<Value>) -> Value {
    let mut plugins = vec![
        json!({"type": "decode-filter"}),
        json!({"type": "prefill-filter"}),
        json!({"type": "queue-scorer"}),
        json!({"type": "max-score-picker"}),
        handler,
    ];
    plugins.extend(further);
    let profile = |filter: &str| json!([{"pluginRef": filter}, {"pluginRef": "queue-scorer", "weight": 2}, {"pluginRef": "max-score-picker"}]);
    json!({"plugins": plugins, "schedulingProfiles": [
        {"name": "decode", "plugins": profile("decode-filter")},
        {"name": "prefill", "plugins": profile("prefill-filter")},
    ]})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_header_names_the_profile() -> Outcome {
    let handler = json!({"type": "header-profile-handler", "parameters": {"defaultProfile": "decode"}});
    let world = World::of(&["p", "d"])
        .labels(vec![role("prefill"), role("decode")])
        .scheduling(stages(handler, Vec::new()))
        .start()
        .await?;
    let ask = async |profile: Option<&str>| {
        let request = world.client.post(world.url("/v1/chat/completions"));
        let request = profile.into_iter().fold(request, |request, name| request.header("epp-profile", name));
        world.send(request.body(http::chat("hello", 2, false).to_string())).await
    };
    for (profile, served_by) in [(None, "d"), (Some("decode"), "d"), (Some("prefill"), "p")] {
        for _ in 0..5 {
            let decided = ask(profile).await?;
            ensure!(decided.answer.served_by == served_by, "{profile:?}: {decided:?}");
            ensure!(decided.decision["profile"] == profile.unwrap_or("decode"), "{decided:?}");
        }
    }
    let answer = ask(Some("nobody's")).await?.answer;
    let message = answer.json()["error"]["message"].to_string();
    ensure!(answer.status == 400 && message.contains("decode") && message.contains("prefill"), "{answer:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_prompt_gets_a_prefill_endpoint_and_only_we_name_it() -> Outcome {
    let recorder = Recorder::start().await?;
    let handler = json!({"type": "disagg-profile-handler", "parameters": {"deciders": {"prefill": "long"}}});
    let decider =
        json!({"type": "prefix-based-pd-decider", "name": "long", "parameters": {"nonCachedTokens": 100}});
    let world = World::of(&["p", "d"])
        .labels(vec![role("prefill"), role("decode")])
        .stand_in(1, recorder.address.clone())
        .scheduling(stages(handler, vec![decider]))
        .start()
        .await?;
    let ask = async |prompt: &str| {
        let request =
            world.client.post(world.url("/v1/chat/completions")).header(PREFILL, "169.254.169.254:80");
        let decided = world.send(request.body(http::chat(prompt, 2, false).to_string())).await?;
        ensure!(decided.decision["outcome"]["chosen"][0] == recorder.address, "{decided:?}");
        anyhow::Ok(decided.answer.json()["headers"][PREFILL].clone())
    };
    ensure!(ask(&"word ".repeat(400)).await? == world.pool.address("p"));
    ensure!(ask("short").await? == Value::Null, "a short prompt is prefilled where it is decoded");
    Ok(())
}
