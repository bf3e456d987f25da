#!/usr/bin/env bash
# Finds the program in GIVEN or in the cache, or else compiles the version of this action into the folder ROOT.
# Writes the outputs `glee` (a path) and `is-new`.
set -euo pipefail

fail() {
  echo "::error title=Glee::$1"
  exit 2
}

glee=${GIVEN:-$ROOT/bin/glee}
is_new=false
if [ -n "$GIVEN" ]; then
  glee=$(command -v -- "$GIVEN") || fail "the input \`glee\` names no program"
elif ! "$glee" --version >/dev/null 2>&1; then
  command -v cargo >/dev/null || fail "cargo is missing: install Rust before this action (rustup), or give the input \`glee\`"
  # In this folder, cargo reads the configuration of the action and never of the reviewed repository.
  cd "$GITHUB_ACTION_PATH"
  CARGO_TARGET_DIR=$RUNNER_TEMP/glee-target cargo install --locked --path . --root "$ROOT"
  rm -rf "$RUNNER_TEMP/glee-target"
  is_new=true
fi
"$glee" --version
{
  echo "glee=$glee"
  echo "is-new=$is_new"
} >>"$GITHUB_OUTPUT"
