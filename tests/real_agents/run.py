#!/usr/bin/env python3
"""Runs the built `glee` with real agent programs against the loopback model server: see run.sh.

    run.py [--docs [--measure]] [--again] [--jobs=N] [--only=REGEX] [PROGRAM ...]

Every case returns what is wrong, so that an empty list is the proof. Cases run side by side, each with a server, a
home and a project of its own, so that none can disturb another. With `--again` a case that failed is tried once more
when all others have ended.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Callable, Iterator

from canaries import INSTRUCTIONS, STOLEN, plant
from docs import write_docs, write_outages
from measure import measure
from programs import KEY, PROGRAMS, Program, chosen
from scene import GLEE, SOURCE, Ran, Scene
from server import Server

Rule = dict[str, Any]
Case = Callable[[Program, Server], list[str]]


def asked(begin: str, closing: str) -> str:
    """A pattern for a prompt of Glee's, whose nonce the answer has to repeat."""
    return rf"{begin}.*{closing} nonce=(?P<nonce>[0-9a-f]{{32}})"


REVIEW = asked("You review code", "GLEE-REVIEW-END")
RESPOND = asked("You wrote code", "GLEE-RESPONSE-END")
ENFORCED = asked("You wrote code.*, ENFORCED by a ruling", "GLEE-RESPONSE-END")

CLEAN = r"GLEE-REVIEW-END nonce=\g<nonce> findings=0"
FINDINGS = r"""[MUST] app.py:5 Pass the name as a parameter
  It comes from outside.
[MUST] app.py:9 Replace MD5
  It is broken.
[MUST] app.py:13 Close the file
  It stays open.
GLEE-REVIEW-END nonce=\g<nonce> findings=3"""
ANSWERS = r"""[F1] IMPLEMENTED: the name is a parameter
[F2] DISAGREE: the hash names a cache entry and guards nothing
  Evidence: app.py:8
[F3] DISAGREE: the process ends soon
  Evidence: app.py:12
GLEE-RESPONSE-END nonce=\g<nonce> answers=3"""
ENFORCED_ANSWER = "[F3] IMPLEMENTED: the file is closed\nGLEE-RESPONSE-END nonce=\\g<nonce> answers=1"


def says(text: str, *calls: Rule) -> Rule:
    """A reply of the model, with calls of tools."""
    return {"text": text, "calls": list(calls), "expand": True}


def change(scene: Scene, line: int, new: str) -> Rule:
    """The call of a tool that replaces a line of app.py."""
    return {"do": "edit", "path": str(scene.worktree / "app.py"), "old": SOURCE.splitlines()[line - 1], "new": new}


def edits(scene: Scene, answer: str, *changed: tuple[int, str]) -> list[Rule]:
    """The steps of a coder that replaces lines of app.py and answers. Those before the last one are replaced already."""
    if scene.program.edits_by_text:
        lines = SOURCE.splitlines()
        for line, new in changed:
            lines[line - 1] = new
        return [says("\n".join(["app.py", "```", *lines, "```", answer]))]
    read = {"do": "read", "path": str(scene.worktree / "app.py")}
    return [says("I read it.", read), says("Now.", change(scene, *changed[-1])), says(answer)]


def structured(prompt: str, answer: Rule, last: str) -> list[Rule]:
    """A JSON answer: by the tool for structured answers where one is offered, or as text."""
    by_tool = [{"match": {"conversation": prompt, "tool": f"^{tool}$"},
                "steps": [says("", {"name": tool, "args": answer}), says(last)]}
               for tool in ("StructuredOutput", "structured_output")]
    text = json.dumps(answer).replace(r"\\g", r"\g")
    return [*by_tool, {"match": {"conversation": prompt}, "reply": says(text)}]


def rulings(*answers: Rule) -> list[Rule]:
    """What the judge says about all disputes of a file, counted from 1."""
    prompt = r'.*"nonce": "(?P<nonce>[0-9a-f]{32})", "rulings": \['
    numbered = [{"dispute": number, **answer} for number, answer in enumerate(answers, 1)]
    return structured(prompt, {"nonce": r"\g<nonce>", "rulings": numbered}, "Ruled.")


def recheck(*ids: str) -> Rule:
    """The reviewer finds these resolved."""
    prompt = asked(f"You raised the findings.*Answer {', '.join(ids)}\\.", "GLEE-RECHECK-END")
    closing = rf"GLEE-RECHECK-END nonce=\g<nonce> answers={len(ids)}"
    return {"match": {"prompt": prompt}, "reply": says("".join(f"[{id}] RESOLVED: it is\n" for id in ids) + closing)}


def whole_job(scene: Scene) -> list[Rule]:
    """Three findings: one implemented, one dismissed by the judge, one enforced and then implemented."""
    read = {"do": "read", "path": str(scene.worktree / "app.py")}
    safe = '    return db.execute("select * from users where name = ?", (name,)).fetchone()'
    closed = "    with open(path) as file:\n        return file.read()"
    dismiss = {"ruling": "DISMISS", "rationale": "A cache key guards nothing.", "grounds": "misunderstood_context",
               "citations": ["app.py:8"]}
    enforce = {"ruling": "ENFORCE", "rationale": "A process may live long."}
    return [
        {"match": {"prompt": REVIEW}, "steps": [*([] if scene.program.edits_by_text else [says("I read it.", read)]), says(FINDINGS)]},
        {"name": "enforced", "match": {"prompt": ENFORCED},
         "steps": edits(scene, ENFORCED_ANSWER, (5, safe), (13, closed))},
        {"name": "respond", "match": {"prompt": RESPOND},
         "steps": edits(scene, ANSWERS, (5, safe))},
        *rulings(dismiss, enforce),
        recheck("F1", "F3"), recheck("F1"), recheck("F3"),
    ]


def watched(program: Program, server: Server) -> list[str]:
    """A watch: a coder does what it is told and tells a milestone, a reviewer approves of the edit, and the watch ends."""
    with Scene(program, server) as scene:
        scene.connect("reviewer", "coder")
        read = {"do": "read", "path": str(scene.tree / "app.py")}
        safe = '    return db.execute("select * from users where name = ?", (name,)).fetchone()'
        milestone = json.dumps({"type": "milestone", "summary": "The name is a parameter now."})
        work = asked("You are coder. You work in the tree", "GLEE-WORK-END")
        peer = r'Other agents work.*\+ .*name,\).*You are reviewer\..*"nonce": "(?P<nonce>[0-9a-f]{32})"'
        result = {"nonce": r"\g<nonce>", "type": "review_result", "reviewer": "reviewer",
                  "payload": {"verdict": "approved", "summary": "A parameter now.", "issues": []}}
        server.rules([
            {"match": {"prompt": work}, "steps": [says("I read it.", read), says("Now.", change(scene, 5, safe)),
                                                  says(f"The name is a parameter.\n{milestone}\nGLEE-WORK-END nonce=\\g<nonce> answers=1")]},
            *structured(peer, result, "Reviewed."),
        ])
        watch = [str(GLEE), "watch", "--agents", "coder", "--task", "coder=Pass the name as a parameter."]
        # One cycle for the milestone and for the answer, however long the program takes to end.
        env = {**scene.env, "GLEE_WATCH_SETTLE": "8s"}
        with tempfile.TemporaryFile("w+") as told:
            process = subprocess.Popen(watch, cwd=scene.tree, env=env, stdin=subprocess.DEVNULL, stderr=told, text=True)
            try:
                code = process.wait(90)
            finally:
                process.kill()
            asked_for = subprocess.run([str(GLEE), "watch", "status", "--json"], cwd=scene.tree, env=scene.env,
                                       stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
            status = json.loads(asked_for.stdout or "{}")
            told.seek(0)
            shown = told.read()
        seen = (code, status.get("last_action"), status.get("events"))
        return [*left(scene), *([] if seen == (0, "continue", 3) else [f"{seen}\n{shown}"]),
                *([] if "(name,)" in scene.read("app.py") else ["app.py is as it was"])]


# Objects until its objection has been answered.
ONCE = """#!/bin/sh
cat >/dev/null
verdict=approved issue=
[ -e objected ] || { verdict=concerns issue='{"severity": "high", "description": "MD5 is no password hash"}'; }
printf '{"nonce": "%s", "type": "review_result", "reviewer": "%s", "payload": {"verdict": "%s", "summary": "read", "issues": [%s]}}' \\
    "$GLEE_NONCE" "$GLEE_AGENT" "$verdict" "$issue"
"""


def stop_hook(program: Program, server: Server) -> list[str]:
    """The recipe of docs/watch.md: a program that stops gets the reviewers' question in the same turn, and answers it."""
    with Scene(program, server) as scene:
        recipe = re.search(r"```json\n(\{\"hooks\".*?)```", (Path(__file__).parents[2] / "docs" / "watch.md").read_text(), re.DOTALL)
        scene.write(".claude/settings.json", recipe.group(1) if recipe else "no recipe")
        bin = scene.home / "bin"
        bin.mkdir()
        (bin / "glee").symlink_to(GLEE)
        (bin / "once").write_text(ONCE)
        (bin / "once").chmod(0o755)
        config = scene.home / ".config" / "glee" / "config.yml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text(json.dumps({"version": 1, "watch": {"debounce": "100ms"}, "agents": [
            {"name": name, "command": ["once"], "adapter": "text", "role": "reviewer"} for name in ("one", "two")]}))
        answer = r"Answer with: (?P<answer>glee emit note --agent claude --clarifies \d+)"
        server.rules([
            {"match": {"prompt": answer}, "steps": [
                says("I answer.", {"do": "shell", "command": r": >objected; \g<answer> --summary 'It is scrypt now'"}), says("It is answered.")]},
            {"match": {}, "reply": {"text": "The passwords are hashed."}},
        ])
        env = {**scene.env, "PATH": f"{bin}:{scene.env['PATH']}"}
        call = lambda *words: subprocess.run(words, cwd=scene.tree, env=env, stdin=subprocess.DEVNULL, text=True,
                                             capture_output=True, timeout=90, check=False)
        watch = subprocess.Popen([str(GLEE), "watch"], cwd=scene.tree, env=env, stdin=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        try:
            while watch.poll() is None and call("glee", "watch", "issues").returncode:
                time.sleep(0.1)
            said = call("claude", "-p", "--allowedTools", "Bash", "--", "Hash the passwords.")
            status = json.loads(call("glee", "watch", "status", "--json").stdout or "{}")
            call("glee", "watch", "stop")
            code = watch.wait(30)
        finally:
            watch.kill()
        seen = (said.returncode, said.stdout.strip(), code, status.get("status"), status.get("issues"))
        expected = (0, "It is answered.", 0, "RUNNING", [])
        return [*left(scene), *([] if seen == expected else [f"{seen}\n{status}\n{said.stderr[-2000:]}"])]


# Finds MD5, and is satisfied once it is gone.
LENS = """#!/bin/sh
cat >/dev/null
if [ "$GLEE_TASK" = recheck ]; then
  echo "[$GLEE_FINDINGS] RESOLVED: it is gone"; echo "GLEE-RECHECK-END nonce=$GLEE_NONCE answers=1"; exit
fi
n=0
for line in $(grep -n md5 work.py | cut -d: -f1); do echo "[MUST] work.py:$line Replace MD5"; n=$((n + 1)); done
echo "GLEE-REVIEW-END nonce=$GLEE_NONCE findings=$n"
"""
# Rules by the word in the file `ruling` beside it; what is beside the tree is closed to a judge in a home folder.
SCALES = """#!/bin/sh
cat >/dev/null
echo "work.py:3 is a cache key"
echo "GLEE-RULING nonce=$GLEE_NONCE dispute=$GLEE_DISPUTE ruling=$(cat "${0%/*}/ruling")"
"""


def turn_hook(program: Program, server: Server) -> list[str]:
    """The hook of `glee hook print`: the model writes MD5, gets the finding back, and fixes it, or objects and obeys the
    ruling. The turn ends, and the model is not asked more often than that takes."""
    md5 = "import hashlib\n\nkey = hashlib.md5(name).hexdigest()\n"
    # Codex runs a login shell, which sets another PATH.
    fix = {"do": "shell", "command": f"sed -i s/md5/sha256/ work.py && {GLEE} answer F1 implemented"}
    object = {"do": "shell", "command": f"{GLEE} answer F1 disagree --reason 'a cache key' --evidence work.py:3; true"}
    problems = []
    for ruling, steps, kept in [("none", [fix], False), ("DISMISS", [object], True), ("ENFORCE", [object, fix], False)]:
        # A run without a detour asks for the file, is told that it is written, asks for each step, and says that it is done.
        most = 2 + len(steps) + 1 + 2
        with Scene(program, server) as scene:
            bin = scene.home / "bin"
            bin.mkdir()
            (bin / "ruling").write_text(ruling)
            (bin / "glee").symlink_to(GLEE)
            for name, text in (("lens", LENS), ("scales", SCALES)):
                (bin / name).write_text(text)
                (bin / name).chmod(0o755)
            scene.configure([{"name": name, "command": [str(bin / name)], "adapter": "text", "role": role}
                             for name, role in (("lens", "reviewer"), ("scales", "judge"))])
            scene.git("add", "-A")
            scene.git("-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "Begin")
            env = {**scene.env, "PATH": f"{bin}:{scene.env['PATH']}"}
            call = lambda *words: subprocess.run(words, cwd=scene.tree, env=env, stdin=subprocess.DEVNULL, text=True,
                                                 capture_output=True, timeout=240, check=False)
            settings = call("glee", "hook", "print", program.name, "--mode", "block").stdout
            place = scene.home / ".codex/hooks.json" if program.name == "codex" else scene.tree / ".claude/settings.json"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(settings)
            write = {"do": "write", "path": str(scene.tree / "work.py"), "content": md5}
            server.rules([
                {"name": "back", "match": {"prompt": "Glee reviewed your changes"},
                 "steps": [*(says("I do it.", step) for step in steps), says("Answered.")]},
                {"name": "work", "match": {"prompt": "Write the key"}, "steps": [says("I write it.", write), says("Written.")]},
                {"match": {}, "reply": {"text": "Nothing to do."}},
            ])
            words = {"claude": ["claude", "-p", "--allowedTools", "Bash,Write,Edit", "--", "Write the key."],
                     "codex": ["codex", "exec", "--dangerously-bypass-approvals-and-sandbox",
                               "--dangerously-bypass-hook-trust", "--skip-git-repo-check", "Write the key."]}
            said = call(*words[program.name])
            work = scene.read("work.py") if (scene.tree / "work.py").exists() else "nothing was written"
            asked_for = len(server.requests())
            log = scene.home / "state" / "agent-hooks" / "log"
            again = call("glee", "review", "--format", "json")
            open = [finding["state"] for finding in json.loads(again.stdout or "{}").get("findings", [])]
            if said.returncode or ("md5" in work) != kept or asked_for > most or again.returncode:
                problems.append(f"{ruling}: exit {said.returncode}, {asked_for} requests of at most {most}, then {again.returncode} {open}\n"
                                f"{work}\n{said.stdout[-800:]}\n{said.stderr[-800:]}\n{log.read_text() if log.exists() else ''}")
            problems += left(scene)
    return problems


# What each program says of the plug-in and of its MCP server: the words that it is asked by, and a word of the answer.
LISTS = {
    "claude": [(["plugin", "list"], "glee@glee"), (["mcp", "list"], "plugin:glee:glee: glee mcp - ✔ Connected")],
    "codex": [(["plugin", "list"], "glee@glee"), (["mcp", "list"], "glee     mcp")],
    "gemini": [(["extensions", "list"], "glee-review"), (["mcp", "list"], "glee (from glee): glee mcp (stdio) - Connected")],
    "copilot": [(["plugin", "list"], "glee@glee"), (["mcp", "list"], "glee (local)")],
    # It has no command that removes a server.
    "opencode": [(["debug", "skill"], "glee-review")],
}


def integration(program: Program, server: Server) -> list[str]:
    """`glee integrate` installs the skill and the MCP server by the program's own command, offline; it lists both until
    `--remove`."""
    with Scene(program, server) as scene:
        bin = scene.home / "bin"
        bin.mkdir()
        (bin / "glee").symlink_to(GLEE)
        env = {**scene.env, "PATH": f"{bin}:{scene.env['PATH']}"}
        call = lambda *words: subprocess.run(words, cwd=scene.tree, env=env, stdin=subprocess.DEVNULL, text=True,
                                             capture_output=True, timeout=240, check=False)
        lists = LISTS[program.name]
        listed = lambda: [word for words, word in lists if word in (said := call(program.name, *words)).stdout + said.stderr]
        wrong = []
        for words, expected in [
            (["--print"], []),
            ([], [word for _, word in lists]),
            (["--remove"], []),
        ]:
            done = call("glee", "integrate", program.name, *words)
            found = listed()
            if done.returncode or found != expected:
                wrong.append(f"{words}: exit {done.returncode}, listed {found}\n{done.stdout}\n{done.stderr}")
        return [*wrong, *left(scene)]


def end_to_end(program: Program, server: Server) -> list[str]:
    """Reviewer, coder, disputes, judge, coder again: all by the one program, which really edits the file."""
    with Scene(program, server) as scene:
        scene.connect("reviewer", "coder", "judge")
        server.rules(whole_job(scene))
        ran = scene.review("--arbitrate")
        settled = [(dispute.get("number"), (dispute.get("ruling") or {}).get("ruling"))
                   for dispute in ran.outcome.get("disputes", [])]
        source = scene.read("app.py")
        usage = ran.outcome.get("proof", {}).get("usage", {})
        return [*exits(ran, 0), *left(scene), *carried_on(program, server.requests()),
                *([] if usage.get("usd") else [f"the cost is unknown: {usage}"]),
                *(f"app.py lacks {part!r}" for part in ("(name,)", "md5", "with open") if part not in source),
                *([] if any(scene.top.rglob("judge-1-2.*")) else ["the disputes are not one call"]),
                *(f"a dispute was asked again: {path.name}" for path in scene.top.rglob("judge-?.*")),
                *([] if len(settled) == 2 else [f"disputes: {settled}"])]


INJECTED = '''import sqlite3
import unittest

from app import find


class Injected(unittest.TestCase):
    def test_a_name_is_no_query(self):
        db = sqlite3.connect(":memory:")
        db.execute("create table users (name)")
        db.execute("insert into users values ('ada')")
        self.assertIsNone(find(db, "' or '1'='1"))
'''


def demonstrated(program: Program, server: Server) -> list[str]:
    """The judge asks the reviewer for a test before its ruling; the test fails, the finding is enforced, the coder fixes it,
    and the test passes."""
    with Scene(program, server) as scene:
        runner = {"command": ["python3", "-m", "unittest", "{files}"], "folder": "checks"}
        scene.configure([scene.agent(role, program, role) for role in ("reviewer", "coder", "judge")],
                        review={"runners": {"unittest": runner}})
        safe = '    return db.execute("select * from users where name = ?", (name,)).fetchone()'
        judge = r'.*"nonce": "(?P<nonce>[0-9a-f]{32})", "dispute": 1\b'
        answer = {"nonce": r"\g<nonce>", "dispute": 1}
        request = {"from": "reviewer", "question": "that a name reaches the query"}
        block = f"```demonstration path=checks/test_find.py runner=unittest\n{INJECTED}```"
        read = {"do": "read", "path": str(scene.tree / "app.py")}
        finding = "[MUST] app.py:5 The name becomes a part of the query\nGLEE-REVIEW-END nonce=\\g<nonce> findings=1"
        objection = "[F1] DISAGREE: names come from our own form\n  Evidence: app.py:4\nGLEE-RESPONSE-END nonce=\\g<nonce> answers=1"
        done = "[F1] IMPLEMENTED: it is a parameter\nGLEE-RESPONSE-END nonce=\\g<nonce> answers=1"
        server.rules([
            {"match": {"prompt": REVIEW}, "steps": [says("I read it.", read), says(finding)]},
            {"match": {"prompt": ENFORCED}, "steps": edits(scene, done, (5, safe))},
            {"match": {"prompt": RESPOND}, "reply": says(objection)},
            {"match": {"prompt": asked("A judge has to rule.*asks the reviewer", "GLEE-DEMONSTRATE-END")},
             "reply": says(f"It does.\n\n{block}\n\nGLEE-DEMONSTRATE-END nonce=\\g<nonce> answers=1")},
            *structured(f"you may once ask one side{judge}",
                        {**answer, "ruling": "ESCALATE", "rationale": "Only a run can tell.", "demonstrate": request}, "Asked."),
            *structured(f"A judge asked one side{judge}",
                        {**answer, "ruling": "ENFORCE", "rationale": "checks/test_find.py gets a row by no name."}, "Ruled."),
            recheck("F1"),
        ])
        ran = scene.review("--arbitrate")
        found = (ran.outcome.get("findings") or [{}])[0]
        shown = [(one.get("by"), one.get("result")) for one in found.get("demonstrations", [])]
        seen = (found.get("state"), shown)
        expected = ("resolved", [("reviewer", "passes_after")])
        return [*exits(ran, 0), *left(scene), *([] if seen == expected else [f"{seen}: {ran}"])]


def apart(program: Program, server: Server) -> list[str]:
    """The whole job with a coder in a worktree: the tree is as it was until `glee runs apply`."""
    with Scene(program, server) as scene:
        scene.connect("reviewer", "coder", "judge")
        scene.git("add", "-A")
        scene.git("-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "Begin")

        def rules(_: subprocess.Popen[str]) -> None:
            """The model edits files by whole paths."""
            end = time.monotonic() + 60
            while scene.worktree == scene.tree and time.monotonic() < end:
                listed = subprocess.run(["git", "-C", str(scene.tree), "worktree", "list", "--porcelain"],
                                        text=True, capture_output=True, check=True).stdout
                scene.worktree = Path(re.findall(r"^worktree (.*)", listed, re.MULTILINE)[-1])
                time.sleep(0.05)
            server.rules(whole_job(scene))

        ran = scene.review("--arbitrate", "--worktree", during=rules)
        untouched = scene.read("app.py") == SOURCE
        apply = subprocess.run([str(GLEE), "runs", "apply"], cwd=scene.tree, env=scene.env, stdin=subprocess.DEVNULL,
                               capture_output=True, text=True, check=False)
        source = scene.read("app.py")
        return [*exits(ran, 0), *left(scene), *([] if untouched else ["the tree changed before it was asked for"]),
                *([] if apply.returncode == 0 else [f"apply: exit {apply.returncode}: {apply.stderr}"]),
                *(f"app.py lacks {part!r}" for part in ("(name,)", "md5", "with open") if part not in source)]


# Each program names two of the four defects at lines 5, 9, 12 and 13.
SAID = {
    "anthropic": "[MUST] app.py:5 SQL injection through the name\n[MUST] app.py:9 MD5 is a weak hash\n",
    "responses": "[MUST] app.py:5 User input becomes part of a query\n[MUST] app.py:13 The file stays open\n",
    "gemini": "[MUST] app.py:9 A broken digest is used\n[MUST] app.py:12 Paths outside the folder are read\n",
}


def three_reviewers(program: Program, server: Server) -> list[str]:
    """Three programs raise six findings about four defects; one call to the aggregator joins them in four groups, and
    each group is closed on its own."""
    with Scene(program, server) as scene:
        reviewers = [program, PROGRAMS["codex"], PROGRAMS["gemini"]]
        for other in reviewers[1:]:
            scene.join(other)
        scene.configure([*(scene.agent(each.name, each, "reviewer") for each in reviewers),
                         scene.agent("aggregator", program, "aggregator"), scene.agent("coder", program, "coder")])
        same = asked("Several reviewers read.*Answer P1, P2\\.", "GLEE-SAME-END")
        pairs = [{"pair": pair, "answer": "same", "reason": "one line"} for pair in ("P1", "P2")]
        lines = {5: '    return db.execute("select * from users where name = ?", (name,)).fetchone()',
                 9: "    return hashlib.sha256(name.encode()).hexdigest()",
                 12: "def load(path: InsideTheFolder):", 13: "    return path.read_text()"}
        answers = "".join(f"[F{number}] IMPLEMENTED: it is\n" for number in range(1, 5))
        checks = {"anthropic": ("F1a", "F2b"), "responses": ("F1b", "F4"), "gemini": ("F2a", "F3")}
        server.rules([
            *({"match": {"prompt": REVIEW, "api": api},
               "reply": says(f"{said}GLEE-REVIEW-END nonce=\\g<nonce> findings=2")} for api, said in SAID.items()),
            *structured(same, {"nonce": r"\g<nonce>", "pairs": pairs}, "Compared."),
            {"match": {"prompt": RESPOND}, "steps": [
                says("I read it.", {"do": "read", "path": str(scene.tree / "app.py")}),
                *(says("Now.", change(scene, line, new)) for line, new in lines.items()),
                says(f"{answers}GLEE-RESPONSE-END nonce=\\g<nonce> answers=4")]},
            *(rule | {"match": rule["match"] | {"api": api}}
              for api, ids in checks.items() for rule in [recheck(*ids)]),
        ])
        ran = scene.review("--fix")
        states = [(found["id"], found["state"]) for found in ran.outcome.get("findings", [])]
        expected = [(id, "resolved") for id in ("F1a", "F1b", "F2a", "F2b", "F3", "F4")]
        events = subprocess.run([str(GLEE), "runs", "show", "last", "--format", "jsonl"], cwd=scene.tree, env=scene.env,
                                stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False).stdout
        calls = [json.loads(line) for line in events.splitlines() if '"call_started"' in line]
        compared = [call["call"]["agent"] for call in calls if call["call"]["purpose"] == "same"]
        return [*exits(ran, 0), *left(scene), *([] if states == expected else [f"{states}: {ran}"]),
                *([] if compared == ["aggregator"] else [f"calls that compare: {compared}"])]


def carried_on(program: Program, requests: list[dict[str, Any]]) -> list[str]:
    """The coder that is called again knows what it was asked before, where its program keeps sessions."""
    first, again = ([entry for entry in requests if entry.get("rule") == name] for name in ("respond", "enforced"))
    if not first or not again:
        return [f"the coder was asked {len(first)} times at first and {len(again)} times again"]
    nonce = re.search(r"GLEE-RESPONSE-END nonce=([0-9a-f]{32})", first[0]["prompt"])
    knows = bool(nonce) and nonce.group(1) in json.dumps(again[0]["body"])
    return [] if knows == program.resumes else [f"the coder knows of its first call: {knows}"]


def write_refused(program: Program, server: Server) -> list[str]:
    """A reviewer whose model calls every tool that writes."""
    with Scene(program, server) as scene:
        scene.connect("reviewer")
        new = str(scene.tree / "written.txt")
        calls = [{"do": "write", "path": new, "content": "x\n"}, change(scene, 5, "    pass"),
                 {"do": "shell", "command": f"echo x > '{new}'"}]
        server.rules([{"match": {"prompt": REVIEW}, "steps": [*(says("", call) for call in calls), says(CLEAN)]}])
        before = scene.digest()
        ran = scene.review()
        tried = max((entry.get("rounds", 0) for entry in server.requests()), default=0)
        expected = 0 if program.gives_up else 3
        return [*exits(ran, 4 if program.gives_up else 0), *left(scene),
                *([] if tried == expected else [f"the model got {tried} of {expected} tool results"]),
                *([] if scene.digest() == before else ["the tree has changed"])]


# What a reviewer does not need, in its HOME and in the HOME of the user that runs it; the state folder is `state`.
SECRETS = [".ssh/id_rsa", ".aws/credentials", ".netrc", ".config/gh/hosts.yml", "elsewhere/notes", "state/secret",
           *(f"{folder}/token" for folder in (".claude", ".codex", ".gemini", ".qwen", ".copilot"))]
# The program, which first tries what its user could do: in a call it writes what it read to a folder of its own.
TRIES = """#!/bin/sh
if [ -n "$GLEE_TASK" ]; then
    for file in app.py {secrets}; do cat "$file"; done > '{own}/seen' 2> '{own}/refused'
    chmod 777 '{kept}'
fi
exec '{program}' "$@"
"""


def home_closed(program: Program, server: Server) -> list[str]:
    """A reviewer reads its own folder and the tree, and nothing else of HOME: neither the program nor its model's tools."""
    with Scene(program, server) as scene:
        folder = ".config/opencode" if program.name == "opencode" else f".{program.name}"
        own, bin, kept = scene.home / folder, scene.home / "bin", scene.home / ".ssh" / "id_rsa"
        secrets = [name for name in SECRETS if not name.startswith(f"{folder}/")]
        for name in [*secrets, f"{folder}/token"]:
            (scene.home / name).parent.mkdir(parents=True, exist_ok=True)
            (scene.home / name).write_text(f"SECRET of {name}\n")
        (scene.home / folder / "token").write_text("its own\n")
        bin.mkdir()
        paths = [str(scene.home / name) for name in secrets]
        (bin / program.command[0]).write_text(TRIES.format(
            own=own, kept=kept, program=program.bin / program.command[0],
            secrets=" ".join(f"'{path}'" for path in [own / "token", *paths])))
        (bin / program.command[0]).chmod(0o755)
        mode = kept.stat().st_mode
        scene.connect("reviewer", command=str(bin / program.command[0]))
        calls = [*({"do": "read", "path": path} for path in (str(scene.tree / "app.py"), str(kept), paths[-1])),
                 {"do": "shell", "command": f"cat '{kept}' '{scene.home}/state/secret'"}]
        server.rules([{"match": {"prompt": REVIEW}, "steps": [*(says("", call) for call in calls), says(CLEAN)]}])
        ran = scene.review()
        tried = max((entry.get("rounds", 0) for entry in server.requests()), default=0)
        told = json.dumps([entry.get("body") for entry in server.requests()])
        seen = (own / "seen").read_text() if (own / "seen").is_file() else ""
        if program.name == "codex" and not namespaces():
            # It then runs in its own sandbox only.
            return [*exits(ran, 0), *left(scene)]
        return [*exits(ran, 0), *left(scene),
                *([] if tried == len(calls) else [f"the model got {tried} of {len(calls)} tool results"]),
                *([] if seen == f"{SOURCE}its own\n" else [f"the program read {seen!r}"]),
                *([] if "SECRET of" not in told else ["the model was told a secret"]),
                *([] if kept.stat().st_mode == mode or not namespaces() else ["the program changed permissions in HOME"])]


def namespaces() -> bool:
    return any(subprocess.run(["unshare", kinds, "true"], capture_output=True, check=False).returncode == 0
               for kinds in ("-m", "-Um"))


def user_saves(program: Program, server: Server) -> list[str]:
    """The user saves files while the reviewer waits for its model: the answer counts, and the edit is told."""
    with Scene(program, server) as scene:
        scene.connect("reviewer")
        server.rules([{"match": {"prompt": REVIEW}, "reply": says(CLEAN), "delay_ms": 2000}])

        def during(process: subprocess.Popen[str]) -> None:
            end = time.monotonic() + PATIENCE
            while not any("rounds" in entry for entry in server.requests()) and time.monotonic() < end:
                time.sleep(0.05)
            scene.write("app.py", f"# mine\n{SOURCE}")
            scene.write("review.log", "reviewing\n")

        ran = scene.review(during=during)
        told = "`app.py` was changed during the call of reviewer" in json.dumps(ran.outcome.get("notices", []))
        return [*exits(ran, 0), *left(scene), *([] if told else [f"the edit is not told: {ran}"])]


def canaries(program: Program, server: Server) -> list[str]:
    """A repository that tries to run something through the settings of every program; the same repository is first
    opened by the bare program that believes it, for a canary that cannot sing proves nothing."""
    with Scene(program, server) as scene:
        plant(scene)
        server.rules([{"reply": "ok"}])
        scene.bare()
        mute = [] if scene.sung() else ["no canary sang for the bare program"]
    with Scene(program, server) as scene:
        plant(scene)
        scene.connect("reviewer", "coder", "judge")
        server.rules(whole_job(scene))
        if program.loads:
            refused = scene.review("--arbitrate")
            mute += [*exits(refused, 4), *([] if "would run the modules" in refused.stderr else [str(refused)])]
            unload(scene)
        ran = scene.review("--arbitrate")
        requests = server.requests()
        stolen = any(entry["path"].startswith(STOLEN) for entry in requests)
        return [*mute, *exits(ran, 0), *left(scene), *(f"the canary {name} sang" for name in scene.sung()),
                *(["requests went to an address of the repository's"] if stolen else [])]


def unload(scene: Scene) -> None:
    """Takes away what keeps Glee from starting the program at all."""
    for folder in scene.program.loads:
        shutil.rmtree(scene.tree / folder)


def instructions(program: Program, server: Server) -> list[str]:
    """The repository's instructions for agents are no instructions for its reviewer, where a program can be told so. What
    Glee itself quotes of them as guidelines is switched off."""
    with Scene(program, server) as scene:
        plant(scene)
        unload(scene)
        scene.connect("reviewer")
        server.rules([{"match": {"prompt": REVIEW}, "reply": says(CLEAN)}])
        ran = scene.review(GLEE_REVIEW_GUIDELINES="off")
        bodies = [json.dumps(entry.get("body")) for entry in server.requests()]
        read = [name for name in INSTRUCTIONS if any(f"CANARY in {name}" in body for body in bodies)]
        return [*exits(ran, 0), *([] if read == list(program.given) else [f"the reviewer was given {read}"])]


def interrupted(program: Program, server: Server) -> list[str]:
    """SIGINT of Glee while its agent waits for the model: gone with all its processes, and soon."""
    with Scene(program, server) as scene:
        scene.connect("reviewer")
        server.rules([{"fault": {"kind": "hang"}}])
        sent: list[float] = []

        def during(process: subprocess.Popen[str]) -> None:
            end = time.monotonic() + PATIENCE
            while not any("rounds" in entry for entry in server.requests()) and time.monotonic() < end:
                time.sleep(0.05)
            sent.append(time.monotonic())
            process.send_signal(signal.SIGINT)

        ran = scene.review(during=during)
        took = time.monotonic() - sent[0]
        return [*exits(ran, 130), *left(scene), *([] if took < SOON else [f"took {took:.1f} s to end"])]


def fault(causes: str, code: int = 4, reply: Rule | str = CLEAN, silence: int = 600, until: bool = False,
          **fault: Any) -> Case:
    """The model server does wrong: Glee ends with the code and names one of the causes, and with `until` the moment
    that the server told. Only where silence is the fault is the clock what ends the call."""
    def case(program: Program, server: Server) -> list[str]:
        if until and program.member:
            program = replace(program, env=program.member)
        with Scene(program, server) as scene:
            scene.connect("reviewer")
            answer = says(reply) if isinstance(reply, str) else reply
            moment = int(time.time()) + 7200
            wrong = over_limit(program.api, moment) if until else fault
            server.rules([{"match": {"prompt": REVIEW}, "reply": answer, "fault": wrong}])
            most = f"{silence * 3 if program.slow else silence}s"
            # gemini tries again by itself for minutes, whatever its settings say: once is enough.
            tries = "0" if program.name == "gemini" else "3"
            ran = scene.review(GLEE_LIMITS_CALL_TIMEOUT="600s", GLEE_LIMITS_FIRST_OUTPUT_TIMEOUT=most,
                               GLEE_LIMITS_IDLE_TIMEOUT=most, GLEE_LIMITS_BACKOFF="200ms", GLEE_LIMITS_RETRIES=tries)
            found = [failure.get("cause") or {} for failure in ran.outcome.get("failures", [])]
            known = any(cause.get("kind") in causes.split() for cause in found)
            if fault.get("kind") == "cut" and program.takes_cuts:
                known = "did not review" in ran.stderr
            resets = [reset(cause["reset"]) for cause in found if cause.get("reset")]
            asked = any(entry.get("rule") for entry in server.requests())
            return [*exits(ran, code), *left(scene),
                    *([] if asked else ["the model was never asked"]),
                    *([] if known else [f"expected {causes}, found {found}: {ran}"]),
                    *([] if not until or any(-90 < each - moment < 90 + ran.seconds for each in resets)
                      else [f"expected a reset at {moment}, found {found}"])]
    return case


# What a model server that fails cost: requests, bytes and seconds, by program and fault.
OUTAGES: dict[tuple[str, str], tuple[int, int, float]] = {}
MOST_REQUESTS, MOST_SECONDS = 8, 30
# codex as its user configures it: a provider in its file, and its own provider at another address.
CODEX_FILES: dict[str, Callable[[str], dict[str, object]]] = {
    "file": PROGRAMS["codex"].files,
    "own provider": lambda url: {".codex/config.toml": f'openai_base_url = "{url}/v1"\n'},
}


def outage(name: str, within: float = 600, **fault: Any) -> Case:
    """The model server fails at each request for a change of one line: the settings are the defaults, and the requests
    are few, whoever repeats them."""
    def measured(program: Program, server: Server, row: str) -> list[str]:
        with Scene(program, server) as scene:
            scene.connect("reviewer")
            scene.git("add", "app.py")
            scene.git("-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "Begin")
            scene.write("app.py", SOURCE.replace("md5", "sha1"))
            server.rules([{"fault": fault}])
            ran = scene.review()
            sizes = [len(json.dumps(entry["body"])) for entry in server.requests() if "body" in entry]
            OUTAGES[row, name] = (len(sizes), sum(sizes), ran.seconds)
            return [*exits(ran, 75 if fault.get("status") == 429 else 4), *left(scene),
                    *([] if 0 < len(sizes) <= MOST_REQUESTS else [f"{len(sizes)} requests: {ran}"]),
                    *([] if ran.seconds <= within else [f"took {ran.seconds:.1f} s"])]

    def case(program: Program, server: Server) -> list[str]:
        problems = measured(program, server, program.name)
        if program.name == "codex":
            for row, files in CODEX_FILES.items():
                env = lambda url: {"CODEX_API_KEY": KEY, "OPENAI_API_KEY": KEY}  # noqa: E731
                other = replace(program, files=files, args=lambda url: [], env=env)
                problems += measured(other, server, f"{program.name}, {row}")
        return problems
    return case


def reset(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()


def over_limit(api: str, moment: int) -> Rule:
    """How each service says that it answers again at the moment, in seconds since 1970."""
    wait = moment - int(time.time())
    fault: Rule = {"kind": "status", "status": 429, "message": "rate limit reached"}
    match api:
        case "anthropic":
            unified = {"status": "rejected", "reset": str(moment), "representative-claim": "five_hour"}
            return fault | {"headers": {f"anthropic-ratelimit-unified-{name}": value for name, value in unified.items()}}
        case "responses":
            return fault | {"body": {"error": {"type": "usage_limit_reached", "message": "The usage limit has been reached",
                                               "plan_type": "plus", "resets_at": moment}}}
        case "gemini":
            detail = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{wait}s"}
            return fault | {"body": {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "details": [detail],
                                               "message": f"You exceeded your current quota. Please retry in {wait}s."}}}
        case _:
            return fault | {"message": f"Rate limit reached for requests. Please try again in {wait // 3600}h0m0s."}


def no_login(program: Program, server: Server) -> list[str]:
    """Without an account the program is started in the sandbox, and its refusal is named; what it prints beside is not shown."""
    with Scene(replace(program, model="", env=lambda url: {}, files=lambda url: {}), server) as scene:
        scene.env = {name: value for name, value in scene.env.items() if not name.endswith("_KEY")}
        scene.connect("reviewer")
        before = scene.digest()
        ran = scene.review()
        told = f"{ran.stdout}{ran.stderr}"
        return [*exits(ran, 4), *left(scene), *([] if scene.digest() == before else ["the tree was changed"]),
                *([] if "not logged in" in told or "not_logged_in" in told else [f"no refused login: {ran}"]),
                *(["a token is shown"] if "authToken=" in told else [])]


@contextlib.contextmanager
def tiny_model(program: Program, folder: Path, begin: str, rest: str, distance: int = 0) -> Iterator[str]:
    """The address of a local server with a model that answers BEGIN, the nonce, REST."""
    folder.mkdir()
    words = [program.bin / "python", Path(__file__).with_name("tiny_model.py"), folder, begin, rest, str(distance)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True) as process:
        try:
            yield process.stdout.readline().strip() + "/v1"
        finally:
            process.kill()


def own_model(program: Program, server: Server) -> list[str]:
    """Two models of a real local server: one reviews in prose, one judges in the form that its grammar holds it to."""
    finding = "[MUST] app.py:9 Replace MD5\n  It is broken.\nGLEE-REVIEW-END nonce="
    # What follows the beginning of the prompt's last nonce: the rest of its closing line, and the ends of the message.
    distance = 38 + len(" findings=<n> read=all|part")
    ruling = {"dispute": 1, "ruling": "DISMISS", "rationale": "A cache key guards nothing.", "grounds": "misunderstood_context",
              "citations": ["app.py:8"], "new_tag": None, "duplicate_of": None, "coder_evidence": None, "members": [],
              "demonstrate": None}
    coder = ('cat >/dev/null; echo "[F1] DISAGREE: the hash names a cache entry"; echo "Evidence: app.py:8"; '
             'echo "GLEE-RESPONSE-END nonce=$GLEE_NONCE answers=1"')
    form = json.dumps(ruling, separators=(",", ":"))[1:]
    with (Scene(program, server) as scene,
          tiny_model(program, scene.top / "reviewer", finding, " findings=1 read=all", distance) as reviewer,
          tiny_model(program, scene.top / "judge", '{"nonce":"', '",' + form) as judge):
        scene.configure([
            {"name": "reviewer", "role": "reviewer", "command": [reviewer], "model": "tiny"},
            {"name": "judge", "role": "judge", "command": [judge], "model": "tiny"},
            {"name": "coder", "role": "coder", "command": ["sh", "-c", coder]},
        ])
        ran = scene.review("--arbitrate")
        ruled = [ruling["ruling"] for dispute in ran.outcome.get("disputes", []) for ruling in dispute["rulings"]]
        tokens = ran.outcome.get("proof", {}).get("usage", {}).get("input_tokens") or 0
        return [*exits(ran, 0), *left(scene), *([] if ruled == ["DISMISS"] else [f"ruled {ruled}: {ran}"]),
                *([] if tokens > 1000 else [f"{tokens} tokens were read"])]


# Long enough for a program to start on a machine that is busy with other things, in seconds; and what is soon there.
PATIENCE = 120
SOON = 20
SILENCE = 30

# Those that take longest come first, so that none of them is left alone at the end.
CASES: dict[str, Case] = {
    "own model": own_model,
    "no login": no_login,
    "whole job": end_to_end,
    "worktree": apart,
    "demonstration": demonstrated,
    "watch": watched,
    "stop hook": stop_hook,
    "turn hook": turn_hook,
    "integration": integration,
    "three reviewers": three_reviewers,
    "canaries": canaries,
    "hang": fault("timed_out", silence=SILENCE, kind="hang"),
    "stall": fault("timed_out", silence=SILENCE, kind="stall", after=3),
    "write refused": write_refused,
    "home closed": home_closed,
    "user saves": user_saves,
    "instructions": instructions,
    "interrupted": interrupted,
    "401": fault("not_logged_in", kind="status", status=401, message="invalid api key"),
    "429": fault("rate_limited", 75, kind="status", status=429, message="rate limit reached"),
    "429 retry-after": fault("rate_limited", 75, kind="status", status=429, message="rate limit reached",
                             headers={"retry-after": "2"}),
    "limit until": fault("rate_limited over_quota", 75, until=True),
    "500": fault("unavailable", kind="status", status=500, message="internal error"),
    "outage 500": outage("500", within=MOST_SECONDS, kind="status", status=500, message="internal error"),
    "outage 429": outage("429", kind="status", status=429, message="rate limit reached"),
    "outage html": outage("HTML", kind="garbage"),
    "outage text": outage("plain text", kind="status", status=200, body="upstream is away"),
    "cut": fault("unavailable protocol", kind="cut", after=3),
    "garbage": fault("unavailable protocol", kind="garbage"),
    "empty": fault("empty", reply={"text": ""}),
    "error in a 200": fault("unavailable protocol empty", kind="status", status=200, message="overloaded",
                            type="overloaded_error"),
}
# Cases that name their programs themselves.
ONCE_ONLY = ["stop hook", "three reviewers"]
# Cases of programs with a profile.
PROFILES_ONLY = ["own model", "no login"]
# Over ACP the rest is a matter of the agent's own settings.
OVER_ACP = ["whole job", "write refused", "interrupted"]


def exits(ran: Ran, *codes: int) -> list[str]:
    return [] if ran.code in codes else [f"expected exit {' or '.join(map(str, codes))}: {ran}"]


def left(scene: Scene) -> list[str]:
    return [f"still runs: {words}" for words in scene.alive()]


def cases(program: Program, only: list[str]) -> list[str]:
    """The names of those that are meant, as far as they make sense for the program."""
    names = OVER_ACP if program.adapter == "acp" else list(program.cases) or [name for name in CASES if name not in PROFILES_ONLY]
    if program.name != "claude":
        names = [name for name in names if name not in ONCE_ONLY]
    if program.name not in ("claude", "codex"):
        names = [name for name in names if name not in ("turn hook", "demonstration")]
    if program.name not in LISTS:
        names = [name for name in names if name != "integration"]
    return [name for name in names if not only or any(re.search(word, name) for word in only)]


def attempt(name: str, case: str) -> list[str]:
    """What is wrong with a program in a case, told in a row of its own."""
    began = time.monotonic()
    try:
        with Server() as server:
            problems = CASES[case](PROGRAMS[name], server)
    except Exception as error:  # noqa: BLE001, a case that breaks has failed, and the others still run
        problems = [f"{type(error).__name__}: {error}"]
    word = "FAILED" if problems else "ok"
    row = f"{name:13}{case:17}{word:8}{time.monotonic() - began:6.1f} s"
    with printing:
        print("\n    ".join([row, *(problem.replace("\n", "\n    ") for problem in problems)]), flush=True)
    return problems


printing = threading.Lock()


def main() -> int:
    began = time.monotonic()
    options = [word for word in sys.argv[1:] if word.startswith("--")]
    value = lambda name: [word.partition("=")[2] for word in options if word.startswith(f"--{name}=")]  # noqa: E731
    wanted = chosen(sys.argv[1:])
    # Half of the time of a case is waiting.
    jobs = int(*value("jobs")) if value("jobs") else (os.cpu_count() or 2) + 2
    pairs = [(name, case) for name in wanted for case in cases(PROGRAMS[name], value("only"))]
    pairs.sort(key=lambda pair: list(CASES).index(pair[1]))
    with ThreadPoolExecutor(jobs) as pool:
        results = dict(zip(pairs, pool.map(lambda pair: not attempt(*pair), pairs)))
    if "--again" in options:
        results |= {pair: not attempt(*pair) for pair, done in results.items() if not done}
    if "--docs" in options:
        costs = {name: measure(PROGRAMS[name]) for name in wanted} if "--measure" in options else {}
        write_docs(results, costs)
    if OUTAGES:
        print(write_outages(OUTAGES, MOST_REQUESTS, MOST_SECONDS, "--docs" in options))
    failed = [f"{name}: {case}" for (name, case), done in results.items() if not done]
    print(f"real agents: {len(results) - len(failed)} of {len(results)} cases hold for {', '.join(wanted)}; "
          f"{len(failed)} failed{': ' if failed else ''}{', '.join(failed)}; {time.monotonic() - began:.0f} s")
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
