#!/bin/sh
# Plays every agent of the example: prints answers/<task>-<stage>.<agent>, or answers/<task>-<stage> for all alike.
folder=$(dirname "$0")/answers
stage=$(sed -n 's/^Stage \([a-z]*\) of .*/\1/p; s/.*the conflicts of several agents about .*, stage \([a-z]*\),.*/\1/p' | head -n 1)
file=$folder/$GLEE_TASK${stage:+-$stage}
[ -f "$file.$GLEE_AGENT" ] && file=$file.$GLEE_AGENT
sed "s/NONCE/$GLEE_NONCE/" "$file"
