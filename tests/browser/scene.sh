#!/usr/bin/env bash
# Runs of glee whose pages are opened in a browser: scene.sh SCRATCH PAGES
#
# shop.html: the example of the README. debate.html: three reviewers, a debate, a coder, a judge and a person, with
# markup in every text. many.html: 2,000 findings of two reviewers in 40 files.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$1 pages=$2
export GLEE HOME=$scratch/home GLEE_STATE_DIR=$scratch/state CI=
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=Test GIT_AUTHOR_EMAIL=test@example.org GIT_COMMITTER_NAME=Test GIT_COMMITTER_EMAIL=test@example.org
mkdir -p "$HOME"

project() { # project NAME: an empty repository, in which the next commands run
  mkdir "$scratch/$1"
  cd "$scratch/$1"
  git init -q -b main
  git commit -q --allow-empty -m Begin
}
commit() {
  git add -A
  git commit -q -m "Add the code"
}
connect() { # connect NAME ROLE: connects the program on standard input
  { echo '#!/bin/sh' && printf 'BAD=%q\nFILE=%q\n' "${bad:-}" "${file:-}" && cat; } >"$1.sh"
  chmod +x "$1.sh"
  "$GLEE" connect "$1" --role "$2" --name "$1" --command "./$1.sh" >/dev/null 2>&1
}
review() { # review CODES ARGUMENT...: a review that ends with one of the codes
  local codes=$1 code=0
  shift
  "$GLEE" review --no-input "$@" >"$scratch/out" 2>&1 || code=$?
  case " $codes " in
    *" $code "*) ;;
    *) cat "$scratch/out" && echo "error: the review ended with $code" >&2 && exit 1 ;;
  esac
}

project shop
mkdir examples
cp -r "$root/.glee" .
cp -r "$root/examples/shop" examples/
commit
review 3 examples/shop --arbitrate --format html="$pages/shop.html"

project debate
bad='</code></pre></script><script>hit()</script><img src=x onerror=hit()><svg onload=hit()>"'"'"' {{ 7*7 }} `code`'
file='a"><img src=x onerror=hit()>.py'
printf 'def load(text):\n    # %s\n    return eval(text)\n\n\ndef render(template):\n    return eval(template)\n' "$bad" >"$file"
printf 'def scale(factor):\n    return eval(factor)  # %s\n' "$bad" >plain.py
commit
for name in careful quick third; do
  connect $name reviewer <<'S'
cat > /dev/null
n=0
say() { printf '%s\n' "$1"; n=$((n + 1)); }
case $GLEE_TASK in
  review)
    say "[MUST] $FILE:3 Do not evaluate text from outside $BAD (confidence 92, security)"
    echo "  It runs whatever \`text\` says. $BAD"
    echo
    echo "  Evidence: $FILE:3 $BAD"
    [ "$GLEE_AGENT" = quick ] || say "[HIGH] $FILE:7 The template is evaluated $BAD (confidence 70, security)"
    [ "$GLEE_AGENT" = careful ] && say "[LOW] plain.py:1 Say what a factor is $BAD"
    [ "$GLEE_AGENT" = third ] && say "[WILD] plain.py:2 An unknown severity $BAD"
    echo "GLEE-REVIEW-END nonce=$GLEE_NONCE findings=$n" ;;
  examine)
    for id in $GLEE_FINDINGS; do
      [ "$GLEE_AGENT" = quick ] && say "[$id] DISAGREE -20: plain.py:1 shows that only constants come here $BAD" \
        || say "[$id] AGREE +5: the line does that $BAD"
    done
    echo "GLEE-EXAMINE-END nonce=$GLEE_NONCE answers=$n" ;;
  defend)
    for id in $GLEE_FINDINGS; do say "[$id] DEFEND: a caller passes text of users $BAD"; done
    echo "GLEE-DEFEND-END nonce=$GLEE_NONCE answers=$n" ;;
  recheck)
    for id in $GLEE_FINDINGS; do say "[$id] RESOLVED: the call is gone $BAD"; done
    echo "GLEE-RECHECK-END nonce=$GLEE_NONCE answers=$n" ;;
esac
S
done
connect pen coder <<'S'
cat > /dev/null
n=0
for id in $GLEE_FINDINGS; do
  n=$((n + 1))
  case $id in
    F1) printf 'def load(text):\n    # <b>changed</b> %s\n    return int(text)\n' "$BAD" > "$FILE"
        echo "[$id] IMPLEMENTED: int reads the number $BAD" ;;
    *) echo "[$id] DISAGREE: the template is ours $BAD"; echo "  Evidence: plain.py:1 $BAD" ;;
  esac
done
echo "GLEE-RESPONSE-END nonce=$GLEE_NONCE answers=$n"
S
connect scales judge <<'S'
cat > /dev/null
echo "It cannot be told from the code. $BAD"
echo "GLEE-RULING nonce=$GLEE_NONCE dispute=$GLEE_DISPUTE ruling=ESCALATE"
S
review "0 1 3 4" "$file" plain.py --arbitrate --debate=3
dispute=$("$GLEE" disputes --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["disputes"][0]["number"])')
"$GLEE" disputes resolve "$dispute" dismiss --by Test --as accepted-risk --reason "Later. $bad" --quiet >/dev/null
"$GLEE" runs show last --format html="$pages/debate.html" >/dev/null

project many
mkdir src
for file in $(seq 40); do
  for line in $(seq 60); do echo "def function_$line(value):"; echo "    return value + $line  # a comment"; done >"src/module_$file.py"
done
commit
for name in first second; do
  connect $name reviewer <<'S'
cat > /dev/null
exec python3 - <<'P'
import os
nonce, name = os.environ["GLEE_NONCE"], os.environ["GLEE_AGENT"]
tags, n = ["MUST", "HIGH", "SHOULD", "MEDIUM", "LOW"], 0
for file in range(1, 21) if name == "first" else range(21, 41):
    for line in range(1, 51):
        print(f"[{tags[(file + line) % 5]}] src/module_{file}.py:{2 * line} Problem {n}: number{line * 7919 % 1000} of {name}")
        print(f"  The value in line {2 * line} is not checked, and word{file}x{line} is what a search finds.")
        n += 1
print(f"GLEE-REVIEW-END nonce={nonce} findings={n}")
P
S
done
review 1 src --format html="$pages/many.html"
