#!/usr/bin/env bash
# Reviews, and records the exit code as an output instead of failing, so that later steps save and upload the results.
# Reads GLEE, MODE, PULL_REQUEST, TARGET, ARGS, PUBLISH, BUDGET, TIMEOUT, REPORT and SARIF.
set -euo pipefail

arguments=(review)
add_lines() { # adds each line that is not empty as one argument
  local line
  while IFS= read -r line; do
    [ -z "$line" ] || arguments+=("$line")
  done <<<"$1"
}
if [ -n "$TARGET" ]; then
  add_lines "$TARGET"
else
  arguments+=(--pr "$PULL_REQUEST")
  [ "$PUBLISH" != true ] || arguments+=(--publish)
fi
add_lines "$ARGS"
arguments+=(--no-input --format github --format "sarif-github=$SARIF" --format "json=$REPORT")

# With `pr.mode: warn`, which is the default, the exit code of a published review would be 0.
[ "$MODE" != enforce ] || export GLEE_PR_MODE=enforce
[ -z "$BUDGET" ] || export GLEE_BUDGET_USD=$BUDGET
[ -z "$TIMEOUT" ] || export GLEE_BUDGET_DURATION=$TIMEOUT
# A change cannot configure its own review: with CI=true, the configuration comes from its base.
export CI=true
code=0
"$GLEE" "${arguments[@]}" || code=$?
{
  echo "exit-code=$code"
  if [ -s "$SARIF" ]; then echo has-sarif=true; else echo has-sarif=false; fi
} >>"$GITHUB_OUTPUT"
