#!/usr/bin/env bash
# The main job on one machine: a fake GPU pool, the companion and Envoy, under load, with Headroom and
# with Envoy's own balancing. Takes about two minutes once everything is built.
#
#   scripts/demo.sh [--json FILE] [--keep] [--seed N] [--policy headroom|round_robin|least_request]
#   scripts/demo.sh --stop       ends what --keep left running
JSON_FOLDER=$PWD
cd "$(dirname "$0")/.."
. scripts/lib.sh

stop() {
  local pid
  [ -f .demo/pids ] || return 0
  while read -r pid; do
    # Ids are given again: only what was started from this folder is ours.
    tr '\0' '\n' < "/proc/$pid/cmdline" | grep -qF "$(pwd -P)/.demo/" && kill -9 "$pid" || true
  done < .demo/pids 2>/dev/null
  rm -f .demo/pids
}

args=()
while [ $# -gt 0 ]; do
  case "$1" in
    --stop) stop; exit ;;
    --keep) args+=(--keep) ;;
    --json) [ $# -ge 2 ] || die "--json takes a file"; shift
      case "$1" in /*) args+=(--json "$1") ;; *) args+=(--json "$JSON_FOLDER/$1") ;; esac ;;
    --seed) [ $# -ge 2 ] || die "--seed takes a number"; args+=(--seed "$2"); shift ;;
    --policy) [ $# -ge 2 ] || die "--policy takes a name"; args+=(--policy "$2"); shift ;;
    -h | --help) sed -n '2,7s/^# \{0,1\}//p' "$0"; exit ;;
    *) die "unknown argument $1; see scripts/demo.sh --help" ;;
  esac
  shift
done

trap 'exit 130' INT TERM HUP
stop

install_rust
install_envoy
build
say "building the demo"
cargo build --locked --quiet --release -p headroom-testbed --bin headroom-demo

# In the background, so that a signal to this script is acted on at once. The program ends what it has
# started, however it ends.
target/release/headroom-demo ${args[@]+"${args[@]}"} &
demo=$!
trap 'kill -TERM $demo 2>/dev/null || true; wait $demo || true; exit 130' INT TERM HUP
wait $demo
