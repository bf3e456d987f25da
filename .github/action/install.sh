#!/usr/bin/env bash
# Finds the program in GIVEN or in the cache, or else installs the package of this action's version into the folder ROOT.
# Where that is impossible and COMPILE is true, cargo compiles the program.
# Writes the outputs `glee` (a path) and `is-new`: whether it was compiled.
set -euo pipefail

fail() {
  echo "::error title=Glee::$1"
  exit 2
}

install_package() {
  # `-I`: a folder `pip` of the reviewed repository is no module. A package without a wheel would be compiled.
  python3 -I -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: --upgrade \
    --target "$ROOT" "glee-review==$1"
}

glee=${GIVEN:-$ROOT/bin/glee}
is_new=false
if [ -n "$GIVEN" ]; then
  glee=$(command -v -- "$GIVEN") || fail "the input \`glee\` names no program"
elif ! "$glee" --version >/dev/null 2>&1; then
  version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$GITHUB_ACTION_PATH/Cargo.toml" | head -n 1)
  if ! install_package "$version"; then
    [ "$COMPILE" = true ] ||
      fail "pip cannot install glee-review $version: see its message, or give the input \`compile: true\` or \`glee\`"
    command -v cargo >/dev/null || fail "cargo is missing: install Rust before this action (rustup), or give the input \`glee\`"
    # In this folder, cargo reads the configuration of the action and never of the reviewed repository.
    cd "$GITHUB_ACTION_PATH"
    CARGO_TARGET_DIR=$RUNNER_TEMP/glee-target cargo install --locked --path . --root "$ROOT"
    rm -rf "$RUNNER_TEMP/glee-target"
    is_new=true
  fi
fi
"$glee" --version
{
  echo "glee=$glee"
  echo "is-new=$is_new"
} >>"$GITHUB_OUTPUT"
