//! Sends a planned load and measures.

use std::time::Duration;

use tokio::{task::JoinSet, time::Instant};

use super::Planned;

/// What became of one request.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How much later than due it was sent: the generator's own fault.
    pub lateness: Duration,
    /// From when it was due to the first chunk with content.
    pub time_to_first_token: Option<Duration>,
    /// From when it was due to the end of the response.
    pub end_to_end: Duration,
    /// Who served it; empty if nobody said.
    pub served_by: String,
    /// What went wrong, if something did.
    pub error: Option<String>,
}

/// Sends each request when it is due, waits for all answers.
pub async fn run(client: &reqwest::Client, base_url: &str, plan: Vec<Planned>) -> Vec<Outcome> {
    let begun = Instant::now();
    let mut requests = JoinSet::new();
    let url = format!("{base_url}/v1/chat/completions");
    for planned in plan {
        let due = begun + planned.due;
        tokio::time::sleep_until(due).await;
        requests.spawn(one(client.clone(), url.clone(), planned.body, due));
    }
    let mut outcomes = Vec::new();
    while let Some(joined) = requests.join_next().await {
        outcomes.extend(joined.ok());
    }
    outcomes
}

async fn one(client: reqwest::Client, url: String, body: String, due: Instant) -> Outcome {
    let mut outcome = Outcome {
        lateness: due.elapsed(),
        time_to_first_token: None,
        end_to_end: Duration::ZERO,
        served_by: String::new(),
        error: None,
    };
    let exchanged = exchange(&client, &url, body, due, &mut outcome).await;
    outcome.end_to_end = due.elapsed();
    outcome.error = exchanged.err();
    outcome
}

async fn exchange(
    client: &reqwest::Client,
    url: &str,
    body: String,
    due: Instant,
    outcome: &mut Outcome,
) -> Result<(), String> {
    let text = |error: reqwest::Error| format!("{error:?}");
    let request = client.post(url).header("content-type", "application/json").body(body);
    let mut response = request.send().await.map_err(text)?;
    if let Some(name) = response.headers().get("x-served-by").and_then(|value| value.to_str().ok()) {
        name.clone_into(&mut outcome.served_by);
    }
    let status = response.status();
    let mut whole = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(text)? {
        // The first chunk of a chat stream names the role; a token has content.
        if outcome.time_to_first_token.is_none()
            && contains(&chunk, b"\"content\":\"")
            && !contains(&chunk, b"\"content\":\"\"")
        {
            outcome.time_to_first_token = Some(due.elapsed());
        }
        whole.extend_from_slice(&chunk);
    }
    if !status.is_success() {
        return Err(format!("{status}: {}", String::from_utf8_lossy(&whole)));
    }
    if !contains(&whole, b"data: [DONE]") {
        return Err("the stream ended before its end".to_owned());
    }
    Ok(())
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}
