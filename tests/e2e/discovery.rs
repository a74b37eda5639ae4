//! Endpoints that come and go while Envoy serves.

use std::{
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use anyhow::ensure;
use headroom_tests::{Outcome, World};
use serde_json::json;

/// Puts a list of endpoints in the file's place at once, as whatever mounts config does.
fn write(file: &Path, endpoints: &serde_json::Value) -> anyhow::Result<()> {
    let fresh = file.with_extension("new");
    std::fs::write(&fresh, json!({"endpoints": endpoints}).to_string())?;
    Ok(std::fs::rename(fresh, file)?)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endpoint_that_leaves_the_file_gets_no_more_requests() -> Outcome {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("endpoints.json");
    let path = file.clone();
    let listed = Arc::new(Mutex::new(serde_json::Value::Null));
    let (list, addresses) = (Arc::clone(&listed), Arc::new(Mutex::new(Vec::new())));
    let cluster = Arc::clone(&addresses);
    let world = World::of(&["a", "b"])
        .companion(move |config, pool| {
            *addresses.lock().expect("not poisoned") = pool.addresses.clone();
            let endpoints = config["pools"][0]["endpoints"].take();
            write(&path, &endpoints).expect("written");
            *list.lock().expect("not poisoned") = endpoints;
            config["pools"][0] = json!({"name": "qwen", "file": {"path": path}});
        })
        .envoy_config(move |config| config.set_endpoints("qwen", &cluster.lock().expect("not poisoned")))
        .start()
        .await?;
    let endpoints = listed.lock().expect("not poisoned").clone();
    let (both, one) = (endpoints.clone(), json!([endpoints[0]]));
    let patience = Duration::from_secs(10);
    for _round in 0..2 {
        write(&file, &both)?;
        world.until_decision("b is a candidate", patience, |d| d.candidate("b").is_some()).await?;
        write(&file, &one)?;
        let gone = |d: &headroom_tests::Decided| d.candidate("a").is_some() && d.candidate("b").is_none();
        world.until_decision("b is gone", patience, gone).await?;
        for _ in 0..20 {
            let decided = world.chat().await?;
            let chosen = decided.decision["outcome"]["chosen"].to_string();
            ensure!(!chosen.contains(&world.pool.address("b")), "{chosen}");
            ensure!(decided.answer.status == 200, "{decided:?}");
        }
    }
    // Nothing is known any more, and the endpoints that Envoy has serve by its own balancing.
    write(&file, &json!([]))?;
    world.until_decision("no endpoint is known", patience, |d| d.decision.is_null()).await?;
    Ok(())
}
