#!/usr/bin/env bash
# Builds target/wasm32-wasip1/release/headroom.wasm and target/release/headroom; with --test also the
# module that the end-to-end tests make trap.
cd "$(dirname "$0")/.."
. scripts/lib.sh
install_rust
build
[ "${1:-}" != --test ] || build_trap
