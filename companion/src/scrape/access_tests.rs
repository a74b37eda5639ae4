use std::{io::Write, path::Path, sync::Arc, time::Duration};

use flate2::{Compression, write::GzEncoder};
use url::Url;

use super::{
    Fetcher,
    error::ScrapeError,
    fetch::Fetched,
    raw_target::{Conduct, RawTarget},
};
use crate::{
    config::Scrape,
    discovery::{Access, TargetKey},
    testing::{FakeTarget, eventually},
    tls::testing::{Authority, Files},
};

const LIMIT: usize = 4_096;

fn fetcher() -> Fetcher {
    Fetcher::new(Scrape { max_backoff: Duration::from_secs(2), max_response_bytes: LIMIT }).expect("TLS")
}

async fn fetch(fetcher: &Fetcher, url: &str, access: &Access) -> Result<Fetched, ScrapeError> {
    let target = TargetKey { url: Url::parse(url).expect("a URL"), access: access.clone() };
    fetcher.fetch(&target, Duration::from_secs(20)).await
}

fn trusting(ca: &Arc<Path>) -> Access {
    Access { ca: Some(Arc::clone(ca)), ..Access::default() }
}

fn up() -> Conduct {
    Conduct::Text("up 1\n".to_owned())
}

/// Kind and text of the error.
async fn fails(fetcher: &Fetcher, url: &str, access: &Access) -> (&'static str, String) {
    let error = fetch(fetcher, url, access).await.expect_err("the scrape fails");
    (error.kind(), error.to_string())
}

#[tokio::test]
async fn a_certificate_must_be_from_a_known_authority_valid_and_for_the_target() {
    let (ours, theirs) = (Authority::new("ours"), Authority::new("theirs"));
    let files = Files::new();
    let access = trusting(&files.write("ca.pem", &ours.pem));
    let good = ours.issue(&["127.0.0.1"]).server(None);
    let target = RawTarget::secure(up(), Arc::clone(&good)).await;
    let fetcher = fetcher();
    for _ in 0..2 {
        assert_eq!(fetch(&fetcher, &target.secure_url(), &access).await.expect("answered").text, "up 1\n");
    }
    assert_eq!(target.connections(), 1, "the connection is kept");

    for (shown, says) in [
        (theirs.issue(&["127.0.0.1"]), "its certificate is from an unknown authority"),
        (ours.issue_until(&["127.0.0.1"], 2001), "its certificate has expired"),
        (ours.issue(&["127.0.0.2"]), "its certificate is not for 127.0.0.1, but for"),
    ] {
        let target = RawTarget::secure(up(), shown.server(None)).await;
        let (kind, text) = fails(&fetcher, &target.secure_url(), &access).await;
        assert!(kind == "tls" && text.contains(says), "{kind}: {text}");
        let insecure = Access { insecure: true, ..Access::default() };
        assert_eq!(fetch(&fetcher, &target.secure_url(), &insecure).await.expect("answered").text, "up 1\n");
    }
    let (kind, text) = fails(&fetcher, &target.secure_url(), &Access::default()).await;
    assert!(kind == "tls" && text.contains("unknown authority"), "the system does not know ours: {text}");
    let plain = FakeTarget::text("up 1\n").await;
    let (kind, text) = fails(&fetcher, &plain.url().replace("http:", "https:"), &access).await;
    assert_eq!((kind, text.as_str()), ("tls", "no secure connection: it does not speak TLS"));
}

#[tokio::test]
async fn a_target_that_wants_a_certificate_gets_ours() {
    let (ours, theirs) = (Authority::new("ours"), Authority::new("theirs"));
    let files = Files::new();
    let anonymous = trusting(&files.write("ca.pem", &ours.pem));
    let target = RawTarget::secure(up(), ours.issue(&["127.0.0.1"]).server(Some(&theirs))).await;
    let fetcher = fetcher();
    let (kind, text) = fails(&fetcher, &target.secure_url(), &anonymous).await;
    assert_eq!((kind, text.as_str()), ("tls", "no secure connection: it refuses us: it wants a certificate"));

    let known =
        Access { identity: Some(files.identity("known", &theirs.issue(&["me"]))), ..anonymous.clone() };
    assert_eq!(fetch(&fetcher, &target.secure_url(), &known).await.expect("answered").text, "up 1\n");
    let stranger =
        Access { identity: Some(files.identity("stranger", &ours.issue(&["me"]))), ..anonymous.clone() };
    let (kind, text) = fails(&fetcher, &target.secure_url(), &stranger).await;
    assert!(kind == "tls" && text.contains("it refuses us: "), "{text}");

    let (cert, _) = known.identity.clone().expect("given");
    let (_, key) = stranger.identity.clone().expect("given");
    let mixed = Access { identity: Some((Arc::clone(&cert), key)), ..anonymous };
    let (kind, text) = fails(&fetcher, &target.secure_url(), &mixed).await;
    assert_eq!(kind, "auth_file");
    assert!(text.contains(&*cert.to_string_lossy()) && text.contains("do not fit together"), "{text}");
}

#[tokio::test]
async fn authorities_are_read_again_and_the_last_good_ones_stay_in_use() {
    let (old, new) = (Authority::new("old"), Authority::new("new"));
    let files = Files::new();
    let access = trusting(&files.path("ca.pem"));
    let target = RawTarget::secure(up(), old.issue(&["127.0.0.1"]).server(None)).await;
    let (fetcher, url) = (fetcher(), target.secure_url());
    let (kind, text) = fails(&fetcher, &url, &access).await;
    assert_eq!(kind, "auth_file");
    assert!(text.contains("ca.pem: cannot be read: No such file"), "{text}");

    files.write("ca.pem", &old.pem);
    let good = async || fetch(&fetcher, &url, &access).await.ok();
    assert_eq!(eventually("the file is there", good).await.notes, [""; 0]);

    target.shows(new.issue(&["127.0.0.1"]).server(None));
    fetch(&fetcher, &url, &access).await.expect("the open connection goes on");
    assert_eq!(fails(&fetcher, &url, &access).await.0, "tls");
    files.write("ca.pem", &new.pem);
    eventually("the new authority is known", good).await;

    files.write("ca.pem", "-----BEGIN CERTIFICATE-----\nhalf");
    let noted = async || fetch(&fetcher, &url, &access).await.expect("goes on").notes.pop();
    let note = eventually("the broken file is noted", noted).await;
    assert!(note.ends_with("ca.pem: is no PEM file; what it held before stays in use"), "{note}");
}

#[tokio::test]
async fn a_token_is_shown_and_a_new_one_takes_its_place() {
    let files = Files::new();
    let token = files.write("token", "first-secret\n");
    let access = Access { bearer_token: Some(Arc::clone(&token)), ..Access::default() };
    let target = RawTarget::start(up()).await;
    let (fetcher, url) = (fetcher(), target.url());
    fetch(&fetcher, &url, &access).await.expect("answered");
    assert!(target.head().contains("authorization: Bearer first-secret\r\n"), "{}", target.head());
    files.write("token", "second-secret");
    let rotated = async || {
        fetch(&fetcher, &url, &access).await.expect("answered");
        target.head().contains("authorization: Bearer second-secret\r\n").then_some(())
    };
    eventually("the new token is shown", rotated).await;
    assert_eq!(target.connections(), 1, "a new token needs no new connection");

    files.remove("token");
    let noted = async || fetch(&fetcher, &url, &access).await.expect("goes on").notes.pop();
    let note = eventually("the missing file is noted", noted).await;
    assert!(note.contains("token: cannot be read: ") && !note.contains("secret"), "{note}");
    assert!(target.head().contains("Bearer second-secret"));

    for (text, says) in [("\n", "holds no token"), ("a\u{7f}secret", "is no token")] {
        let broken = files.write("broken", text);
        let access = Access { bearer_token: Some(broken), ..Access::default() };
        let (kind, text) = fails(&self::fetcher(), &url, &access).await;
        assert_eq!(kind, "auth_file");
        assert!(text.contains(says) && !text.contains("secret"), "{text}");
    }
    target.conduct(Conduct::Status("403 Forbidden"));
    assert_eq!(fails(&fetcher, &url, &access).await, ("status", "answered 403 Forbidden".to_owned()));
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text).expect("packed");
    encoder.finish().expect("packed")
}

#[tokio::test]
async fn a_packed_answer_is_as_long_as_what_is_in_it() {
    let target = RawTarget::start(up()).await;
    let (fetcher, url) = (fetcher(), target.url());
    let answered = async |body: Vec<u8>, headers| {
        target.conduct(Conduct::Body(headers, body));
        fetch(&fetcher, &url, &Access::default()).await.map(|fetched| fetched.text)
    };
    let packed = "content-encoding: gzip\r\n";
    assert_eq!(answered(gzip(b"up 1\n"), packed).await.expect("answered"), "up 1\n");
    assert!(target.head().contains("accept-encoding: gzip\r\n"), "{}", target.head());
    let full = "x".repeat(LIMIT);
    assert_eq!(answered(gzip(full.as_bytes()), packed).await.expect("answered"), full);
    let parts = [gzip(b"up 1\n"), gzip(b"up 2\n")].concat();
    assert_eq!(answered(parts, packed).await.expect("several members are one text"), "up 1\nup 2\n");

    let bomb = gzip(&vec![b'#'; 64 << 20]);
    let cut = gzip(b"up 1\n").split_at(15).0.to_vec();
    for (body, headers, kind, says) in [
        (gzip(&vec![b'#'; LIMIT + 1]), packed, "too_large", "longer than 4096 bytes"),
        (bomb, packed, "too_large", "longer than 4096 bytes"),
        (cut, packed, "transport", "cannot be unpacked"),
        (b"up 1\n".to_vec(), packed, "transport", "cannot be unpacked"),
        (b"up 1\n".to_vec(), "content-encoding: br\r\n", "transport", "packed as \"br\""),
    ] {
        let error = answered(body, headers).await.expect_err(says);
        assert!(error.kind() == kind && error.to_string().contains(says), "{}: {error}", error.kind());
    }
}

#[tokio::test]
async fn whatever_a_target_does_ends_the_scrape_with_its_kind() {
    let target = RawTarget::start(up()).await;
    let fetcher = fetcher();
    let key = TargetKey { url: Url::parse(&target.url()).expect("a URL"), access: Access::default() };
    let cases = [
        (Conduct::Hang, "timeout", "no complete answer within 100ms"),
        (Conduct::Trickle, "timeout", "no complete answer within 100ms"),
        (Conduct::Huge(100 << 20), "too_large", "longer than 4096 bytes"),
        (Conduct::BreakOff, "transport", "the answer broke off"),
        (Conduct::EndlessHeaders, "transport", "the answer broke off"),
        (Conduct::Status("500 Internal Server Error"), "status", "answered 500 Internal Server Error"),
    ];
    for (conduct, kind, says) in cases {
        let patience = Duration::from_millis(if kind == "timeout" { 100 } else { 20_000 });
        let before = target.requests();
        target.conduct(conduct);
        let error = fetcher.fetch(&key, patience).await.expect_err(says);
        assert!(error.kind() == kind && error.to_string().contains(says), "{}: {error}", error.kind());
        assert!(target.requests() <= before + 1, "{says}: it is not asked again");
    }
    target.conduct(up());
    fetcher.fetch(&key, Duration::from_secs(20)).await.expect("well again");
    assert_eq!(target.most_under_way(), 1);
}
