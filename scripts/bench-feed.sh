#!/usr/bin/env bash
# Measures the way of a number from an exporter to a worker of Envoy, and what a large fleet costs the companion. Prints
# Markdown tables. Nothing else should be busy on the machine. Takes about three minutes once everything is built.
#
#   scripts/bench-feed.sh [latency|scale] [ARGUMENT...]     one of the two, with arguments of headroom-feed-bench
cd "$(dirname "$0")/.."
. scripts/lib.sh

install_rust
install_envoy
build
say "building the measurement"
cargo build --locked --quiet --release -p headroom-testbed --bin headroom-feed-bench

if [ $# -gt 0 ]; then
  target/release/headroom-feed-bench "$@"
else
  say "from a changed number at a GPU exporter to the first decision that knows it"
  target/release/headroom-feed-bench latency
  say "1,000 endpoints and 250 exporters"
  target/release/headroom-feed-bench scale
fi
