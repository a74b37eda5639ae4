#!/usr/bin/env bash
# Measures what a decision costs and prints it as a Markdown table. Installs what is missing.
# Instructions are counted, natively by callgrind and in wasm by an interpreter, and do not depend on how busy
# the machine is; times are criterion's and do. With --counts only the instructions.
cd "$(dirname "$0")/.."
. scripts/lib.sh

install_rust
command -v cc >/dev/null || install_package cc gcc
command -v valgrind >/dev/null || install_package valgrind valgrind

say "building the programs"
cargo build --locked --quiet --release -p headroom-bench --bin cost --bin fuel
cargo build --locked --quiet --release -p headroom-bench --bin cost --target wasm32-wasip1
OUT=${CARGO_TARGET_DIR:-target}
NATIVE=$OUT/release/cost
WASM=$OUT/wasm32-wasip1/release/cost.wasm

# Instructions of a native run with these arguments.
native() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$NATIVE" "$@" 2>&1 | sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

# Fuel of a run in wasm with these arguments.
wasm() {
  "$OUT/release/fuel" "$WASM" "$@"
}

# One of ten decisions more: what starting costs is in both runs.
each() {
  local counter=$1 few many
  shift
  few=$("$counter" "$@" 1)
  many=$("$counter" "$@" 11)
  echo $(((many - few) / 10))
}

# Criterion's estimate of the mean, in microseconds.
microseconds() {
  sed 's/.*"mean":{[^}]*}[^}]*"point_estimate":\([0-9.e+]*\).*/\1/' "$OUT/criterion/$1/new/estimates.json" |
    awk '{ printf "%.1f", $1 / 1000 }'
}

TIMES=1
[ "${1:-}" != --counts ] || TIMES=0
if [ "$TIMES" = 1 ]; then
  say "measuring times (two minutes)"
  cargo bench --locked --quiet -p headroom-bench --bench schedule -- --noplot --warm-up-time 1 --measurement-time 3 >&2
fi

say "counting instructions"
echo "| profile | endpoints | native: decision | its JSON | wasm: decision | its JSON | µs: decision | its JSON |"
echo "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
for profile in default full; do
  for endpoints in 8 64 512 4096; do
    row="| $profile | $endpoints"
    for counter in native wasm; do
      decision=$(each "$counter" schedule "$profile" "$endpoints")
      both=$(each "$counter" explain "$profile" "$endpoints")
      row="$row | $decision | $((both - decision))"
    done
    if [ "$TIMES" = 1 ]; then
      row="$row | $(microseconds "schedule_$profile/$endpoints") | $(microseconds "explain_$profile/$endpoints")"
    else
      row="$row | |"
    fi
    echo "$row |"
  done
done
