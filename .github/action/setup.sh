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
if [ -z "$TARGET" ] && ! [[ $PULL_REQUEST =~ ^[0-9]+$ ]]; then
  fail "the input \`pull-request\` needs the number of a pull request; without one, give a \`target\`"
fi

# The key covers everything that is compiled, and the toolchain.
sources=$(cd "$GITHUB_ACTION_PATH" && find src Cargo.toml Cargo.lock -type f | LC_ALL=C sort | while IFS= read -r file; do
  echo "$file" && cat -- "$file"
done | digest)
rust=$(cd "$GITHUB_ACTION_PATH" && (rustc --version 2>/dev/null || echo none) | digest)
request=glee-history-${PULL_REQUEST:-target}-
head=
if [ -f "${GITHUB_EVENT_PATH:-}" ] && [ -n "$PULL_REQUEST" ]; then
  head=$(python3 -I - "$GITHUB_EVENT_PATH" <<'END'
import json, re, sys
request = json.load(open(sys.argv[1])).get("pull_request") or {}
sha = (request.get("head") or {}).get("sha") or ""
print(sha if re.fullmatch("[0-9a-f]{40,64}", sha) else "")
END
)
fi
{
  echo "root=$RUNNER_TEMP/glee"
  echo "program-key=glee-program-$RUNNER_OS-$RUNNER_ARCH-$rust-$sources"
  echo "state=$RUNNER_TEMP/glee-state"
  echo "history-of-request=$request"
  echo "history-key=$request$GITHUB_RUN_ID-$GITHUB_RUN_ATTEMPT"
  echo "report=$RUNNER_TEMP/glee-review.json"
  echo "sarif=$RUNNER_TEMP/glee.sarif"
  # Both or none: without them, the upload takes the commit of the workflow.
  echo "sarif-ref=${head:+refs/pull/$PULL_REQUEST/head}"
  echo "sarif-sha=$head"
} >>"$GITHUB_OUTPUT"
