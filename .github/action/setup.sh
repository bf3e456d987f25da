#!/usr/bin/env bash
# Checks the inputs, and chooses folders, files and the keys of the caches.
# Reads MODE, PULL_REQUEST and TARGET; writes outputs of the step.
set -euo pipefail

fail() {
  echo "::error title=Glee::$1"
  exit 2
}
digest() { # of standard input
  if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi | cut -c 1-32
}

case $MODE in warn | enforce) ;; *) fail "the input \`mode\` is \`warn\` or \`enforce\`" ;; esac
if [ -z "$TARGET" ] && [ "${GITHUB_EVENT_NAME:-}" = merge_group ]; then
  fail "the event \`merge_group\` has no pull request: give the commits of the queue as \`target\` (see docs/how-to/ci.md)"
fi
if [ -z "$TARGET" ] && ! [[ $PULL_REQUEST =~ ^[0-9]+$ ]]; then
  fail "the input \`pull-request\` needs the number of a pull request; without one, give a \`target\`"
fi

# The key covers everything that is compiled, and the toolchain.
sources=$(cd "$GITHUB_ACTION_PATH" && find src Cargo.toml Cargo.lock -type f | LC_ALL=C sort | while IFS= read -r file; do
  echo "$file" && cat -- "$file"
done | digest)
rust=$(cd "$GITHUB_ACTION_PATH" && (rustc --version 2>/dev/null || echo none) | digest)
# Values of the event: the head of the request, and the branch into which it is merged.
head='' base=''
if [ -f "${GITHUB_EVENT_PATH:-}" ]; then
  values=$(python3 -I - "$GITHUB_EVENT_PATH" <<'END'
import json, re, sys
event = json.load(open(sys.argv[1]))
request = event.get("pull_request") or {}
sha = (request.get("head") or {}).get("sha") or ""
print(sha if re.fullmatch("[0-9a-f]{40,64}", sha) else "")
base = (request.get("base") or {}).get("ref") or (event.get("merge_group") or {}).get("base_ref") or ""
print(base.removeprefix("refs/heads/").replace("\n", ""))
END
)
  { read -r head; read -r base; } <<<"$values" || true
fi
[ -n "$PULL_REQUEST" ] || head=

# A history contains recorded answers and rulings, and with `pull_request_target` the caches of all requests have one scope.
# So a run restores the history of its own request, or else that of the base branch. Only an event that nobody without write
# access can cause keeps the history of a branch. A branch is a digest in the key, so that no key is the beginning of another.
branch_key() { echo "glee-history-branch-$(printf %s "$1" | digest)-"; }
of_base=
[ -z "$base" ] || of_base=$(branch_key "$base")
if [[ $PULL_REQUEST =~ ^[0-9]+$ ]]; then
  own=glee-history-request-$PULL_REQUEST-
else
  case ${GITHUB_EVENT_NAME:-}:${GITHUB_REF_TYPE:-} in
    push:branch | schedule:branch | workflow_dispatch:branch) own=$(branch_key "$GITHUB_REF_NAME") ;;
    *) own=glee-history-run-$GITHUB_RUN_ID- ;;
  esac
fi
{
  echo "root=$RUNNER_TEMP/glee"
  echo "program-key=glee-program-$RUNNER_OS-$RUNNER_ARCH-$rust-$sources"
  echo "state=$RUNNER_TEMP/glee-state"
  echo "history-own=$own"
  echo "history-of-base=$of_base"
  echo "history-key=$own$GITHUB_RUN_ID-$GITHUB_RUN_ATTEMPT"
  echo "report=$RUNNER_TEMP/glee-review.json"
  echo "sarif=$RUNNER_TEMP/glee.sarif"
  # Both or none: without them, the upload takes the commit of the workflow.
  echo "sarif-ref=${head:+refs/pull/$PULL_REQUEST/head}"
  echo "sarif-sha=$head"
} >>"$GITHUB_OUTPUT"
