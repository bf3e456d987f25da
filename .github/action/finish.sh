#!/usr/bin/env bash
# Applies the exit policy: `enforce` ends with the exit code of the review, `warn` always succeeds.
# Reads MODE and EXIT_CODE, which is empty if the review did not start.
set -euo pipefail

case $EXIT_CODE in
  0) exit 0 ;;
  "") text="the review did not start: the log of the earlier steps has the reason" ;;
  1) text="mandatory findings are open" ;;
  3) text="a dispute waits for a person" ;;
  4) text="the review is incomplete and proves nothing" ;;
  75) text="the review reached its budget" ;;
  *) text="the review failed with exit code $EXIT_CODE" ;;
esac
if [ -z "$EXIT_CODE" ]; then
  echo "Glee: $text." >>"$GITHUB_STEP_SUMMARY"
fi
if [ "$MODE" = enforce ]; then
  echo "::error title=Glee::$text"
  exit "${EXIT_CODE:-4}"
fi
echo "::warning title=Glee::$text; the mode is \`warn\`, so the job goes on"
