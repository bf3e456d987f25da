#!/usr/bin/env bash
# Real agent programs, driven by the built glee against a model server on loopback.
#
#   tests/real_agents/run.sh [--docs [--measure]] [--again] [--jobs=N] [--only=CASE] [PROGRAM ...]
#
# Without a program: claude codex gemini; all: every program. --again tries a case that failed once more at the end.
# claude-acp, codex-acp, gemini-acp, opencode-acp, qwen-acp and copilot-acp are asked over ACP; with one of them, glee is
# built with the feature `acp`.
# Installs each program at its pinned version (npm, and Node 22 where the machine's is older) into
# tests/real_agents/.cache, or the folder in GLEE_REAL_AGENTS_CACHE; then nothing but loopback is needed, and where the
# system allows it nothing else is there. GLEE names another binary than target/debug/glee. Prints a row a program and
# case, and a line that sums them up; ends with 1 if any failed.
set -euo pipefail
cd "$(dirname "$0")"

case " $* " in
  *" --help "* | *" -h "*) sed -n 's/^# \{0,1\}//p' run.sh | sed 1d && exit ;;
esac

case " $* " in
  *-acp* | *" all "*) features=acp ;;
  *) features= ;;
esac
[ -n "${GLEE:-}" ] || (cd ../.. && cargo build --quiet --locked --features "$features")
python3 programs.py "$@"
if unshare -n ip link set lo up 2>/dev/null; then
  exec unshare -n sh -c 'ip link set lo up && exec python3 run.py "$@"' run.py "$@"
fi
exec python3 run.py "$@"
