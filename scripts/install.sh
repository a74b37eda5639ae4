#!/usr/bin/env bash
# Installs what building and testing need, as far as it is missing, and prints the Envoy to use.
cd "$(dirname "$0")/.."
. scripts/lib.sh
install_rust
install_envoy
echo "$HEADROOM_ENVOY"
