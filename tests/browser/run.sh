#!/usr/bin/env bash
# The HTML report and the pages of `glee serve` in Chromium: how fast they open and filter, what they request,
# accessibility, injected scripts, requests of other origins.
#
#   tests/browser/run.sh [--keep=FOLDER]
#
# Builds glee (GLEE names another binary) and has it review the runs of scene.sh; the page with hostile text in every
# field is written by the unit test `no_text_becomes_markup`. --keep leaves the pages and pictures of them in FOLDER.
# Installs playwright-core and axe-core at pinned versions (npm) into tests/browser/.cache, or the folder in
# GLEE_BROWSER_CACHE. CHROMIUM names the browser. Prints a row a page, and a line that sums them up; ends with 1 if a
# check failed.
set -euo pipefail
here=$PWD
cd "$(dirname "$0")"

keep=
for argument; do
  case $argument in
    --keep=*) keep=$(cd "$here" && mkdir -p "${argument#--keep=}" && cd "${argument#--keep=}" && pwd) ;;
    *) sed -n 's/^# \{0,1\}//p' run.sh | sed 1d && exit 2 ;;
  esac
done

for name in ${CHROMIUM:+"$CHROMIUM"} chromium chromium-browser google-chrome; do
  chromium=$(command -v "$name") && break
done
[ -n "${chromium:-}" ] || { echo "error: no Chromium is installed; install one, or set CHROMIUM" >&2 && exit 2; }

cache=${GLEE_BROWSER_CACHE:-$PWD/.cache}
mkdir -p "$cache"
packages="playwright-core@1.65.1 axe-core@4.14.1"
if [ "$(cat "$cache/installed" 2>/dev/null)" != "$packages" ]; then
  # shellcheck disable=SC2086
  PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm install --prefix "$cache" --no-save --no-audit --no-fund --silent $packages
  echo "$packages" >"$cache/installed"
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
pages=$scratch/pages
mkdir "$pages"
if [ -z "${GLEE:-}" ]; then
  (cd ../.. && cargo build --quiet --locked)
  GLEE=$(cd ../.. && pwd)/target/debug/glee
fi
GLEE_PAGES=$pages sh -c 'cd ../.. && cargo test --quiet --locked --lib no_text_becomes_markup' >/dev/null
GLEE=$GLEE ./scene.sh "$scratch" "$pages"
status=0
CHROMIUM=$chromium NODE_PATH=$cache/node_modules node check.js "$pages" ${keep:+"$pages"} || status=1
CHROMIUM=$chromium NODE_PATH=$cache/node_modules GLEE=$GLEE node serve.js "$scratch" ${keep:+"$pages"} || status=1
[ -z "$keep" ] || cp "$pages"/* "$keep"
exit $status
