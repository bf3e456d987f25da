#!/usr/bin/env bash
# Records a golden history with the `glee` of this tree into tests/golden/NAME: three reviews, a pipeline of stages, a
# deadlock that a person ended and a watch, and what came of each. A golden history never changes afterwards; a new form
# of the events or the database gets a new one.
#
#   tests/golden/record.sh NAME
set -euo pipefail
cd "$(dirname "$0")/../.."
name=${1:?usage: tests/golden/record.sh NAME}
into=$PWD/tests/golden/$name
[ ! -e "$into" ] || { echo "error: $into exists; golden histories are kept as they are" >&2; exit 2; }
cargo build --quiet --locked
glee=${CARGO_TARGET_DIR:-$PWD/target}/debug/glee

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work/home GLEE_STATE_DIR=$work/state GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=golden GIT_AUTHOR_EMAIL=golden@example.org
export GIT_COMMITTER_NAME=golden GIT_COMMITTER_EMAIL=golden@example.org
mkdir -p "$HOME" "$work/shop" "$into/runs" "$into/outcomes"
cp -r examples/shop/. "$work/shop/"
mkdir -p "$work/plan/examples" && cp -r examples/queue "$work/plan/examples/" && rm -rf "$work/plan/examples/queue/.glee/stages-out"
trust=$(sed -n 's/.*consensus.*--trust \(blake3:[0-9a-f]*\).*/\1/p' docs/consensus.md | head -1)
watched=$(sed -n 's/^\$ glee watch --trust \(blake3:[0-9a-f]*\).*/\1/p' docs/watch.md)
cp -r .glee "$work/shop/.glee"
cp -r examples/watch "$work/watch"
cd "$work/shop"
git init -q . && git add -A && git commit -qm "The shop"

run() { "$glee" --history "$into/history.db" "$@" >/dev/null 2>"$work/said" || [ $? != 2 ] || { cat "$work/said" >&2; exit 2; }; }
# The whole job; a person settles what is left; the run is carried on.
run review . --arbitrate --no-input
run disputes resolve 1 dismiss --by Test --as accepted-risk --reason "the tunnel is never down"
run runs resume last
# The same findings again: what was ruled on is not asked again.
git commit -qam "As the coder left it"
run review . --arbitrate --no-input

# Two reviewers that disagree, a debate, a coder that objects, and a panel of three judges.
cat > "$work/voice.sh" <<'END'
#!/bin/sh
# voice.sh NAME: plays a reviewer, a coder or a judge by what it is asked
end() { echo "GLEE-$1-END nonce=$GLEE_NONCE $2"; }
case $GLEE_TASK in
  review)
    [ "$1" = ada ] && printf '[HIGH] notes.py:2 The lock is never released\n  When load() raises, the lock stays taken.\n[LOW] notes.py:1 Rename open_notes\n'
    [ "$1" = ada ] && end REVIEW findings=2 || end REVIEW findings=0 ;;
  examine) for id in $GLEE_FINDINGS; do echo "[$id] DISAGREE -10: the caller holds notes.py:2 in a with block"; done
           end EXAMINE "answers=$(echo $GLEE_FINDINGS | wc -w)" ;;
  defend) for id in $GLEE_FINDINGS; do echo "[$id] DEFEND +5: notes.py:2 takes the lock itself"; done
          end DEFEND "answers=$(echo $GLEE_FINDINGS | wc -w)" ;;
  respond) for id in $GLEE_FINDINGS; do printf '[%s] DISAGREE: the caller releases it\n  Evidence: notes.py:1\n' "$id"; done
           end RESPONSE "answers=$(echo $GLEE_FINDINGS | wc -w)" ;;
  judge) word=ENFORCE; [ "$1" = bea ] && word=ESCALATE
         echo "The lock is taken at notes.py:2 and released nowhere."
         echo "GLEE-RULING nonce=$GLEE_NONCE dispute=$GLEE_DISPUTE ruling=$word" ;;
  recheck) for id in $GLEE_FINDINGS; do echo "[$id] UNRESOLVED: nothing changed"; done
           end RECHECK "answers=$(echo $GLEE_FINDINGS | wc -w)" ;;
esac
END
chmod +x "$work/voice.sh"
mkdir -p "$work/notes" && cd "$work/notes"
printf 'def open_notes(path):\n    lock.acquire()\n    return load(path)\n' > notes.py
git init -q . && git add -A && git commit -qm "The notes"
for who in ada:reviewer bob:reviewer cyd:coder amy:judge bea:judge cal:judge; do
  "$glee" connect "${who%:*}" --name "${who%:*}" --role "${who#*:}" --command "$work/voice.sh ${who%:*}" >"$work/said" 2>&1 || { cat "$work/said" >&2; exit 2; }
done
"$glee" config set review.judge.panel '[amy, bea, cal]' >/dev/null 2>&1
run review . --arbitrate --debate --no-input
# The same tree again: the answers are reused, and the findings repeat those of the run before.
run review . --no-input

# Agreement: a conflict that an arbiter decides, questions, and a conflict that only a person can decide.
cd "$work/plan"
git init -q . && git add -A && git commit -qm "The queue"
run -C examples/queue --trust "$trust" consensus run pipeline.yml --id retries
sed -i 's/"confidence": "high"/"confidence": "low"/' examples/queue/answers/arbitrate-plan
run -C examples/queue --trust "$trust" consensus ask "How are orders retried?" --stage plan --id unsure
run -C examples/queue --trust "$trust" consensus resolve unsure gemini --reason "Redis runs already"
"$glee" --history "$into/history.db" consensus --json > "$into/stages.json" 2>/dev/null
"$glee" --history "$into/history.db" stats deadlocks --json > "$into/deadlocks.json" 2>/dev/null

# A watch: two concerns, a clarification, a review that approves; a person pauses, resumes and closes an issue.
cd "$work/watch"
git init -q . && git add -A && git commit -qm "The watch"
"$glee" --history "$into/history.db" watch --trust "$watched" --stay 2>"$work/told" &
until grep -q "Cycle 2: CONTINUE" "$work/told"; do sleep 0.2; done
run watch pause --reason "lunch"
run watch resume --reason "back"
# Another review finds MD5 again; a person closes the issue.
printf 'import hashlib\n\n\ndef hashed(password):\n    return hashlib.md5(password.encode()).hexdigest()\n' >src/auth.py
run watch review
until grep -q "Cycle 3: PAUSE" "$work/told"; do sleep 0.2; done
run watch issues close 3 --reason "the passwords are of a test"
run watch stop
wait

cd "$work"
"$glee" --history "$into/history.db" runs --json > "$into/runs.json" 2>/dev/null
for run in $(grep -o '"run": "[^"]*"' "$into/runs.json" | cut -d'"' -f4); do
  mkdir -p "$into/kept/$run"
  cp "$into/runs/$run"/sources-*.json "$into/kept/$run/"
  "$glee" --history "$into/history.db" runs show "$run" --format json > "$into/outcomes/$run.json"
done
rm -rf "$into/runs" "$into/runs.json" "$into"/history.db-*
mv "$into/kept" "$into/runs"
echo "recorded $(ls "$into/outcomes" | wc -l) runs in tests/golden/$name"
