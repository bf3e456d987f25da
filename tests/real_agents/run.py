#!/usr/bin/env python3
"""Runs the built `glee` with real agent programs against the loopback model server: see run.sh.

    run.py [--docs [--measure]] [--only=REGEX] [PROGRAM ...]

Every case returns what is wrong, so that an empty list is the proof. The programs run side by side, each with a
server of its own.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable

from canaries import INSTRUCTIONS, STOLEN, plant
from docs import write_docs
from measure import measure
from programs import PROGRAMS, Program, chosen
from scene import SOURCE, Ran, Scene
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
    return {"do": "edit", "path": str(scene.tree / "app.py"), "old": SOURCE.splitlines()[line - 1], "new": new}


def ruling(dispute: int, about: str, answer: Rule) -> list[Rule]:
    """What the judge says: by the tool for structured answers where one is offered, or as text."""
    prompt = rf'{about}.*"nonce": "(?P<nonce>[0-9a-f]{{32}})", "dispute": {dispute}\b'
    answer = {"nonce": r"\g<nonce>", "dispute": dispute, **answer}
    by_tool = [{"match": {"conversation": prompt, "tool": f"^{tool}$"},
                "steps": [says("", {"name": tool, "args": answer}), says("Ruled.")]}
               for tool in ("StructuredOutput", "structured_output")]
    text = json.dumps(answer).replace(r"\\g", r"\g")
    return [*by_tool, {"match": {"conversation": prompt}, "reply": says(text)}]


def recheck(*ids: str) -> Rule:
    """The reviewer finds these resolved."""
    prompt = asked(f"You raised the findings.*Answer {', '.join(ids)}\\.", "GLEE-RECHECK-END")
    closing = rf"GLEE-RECHECK-END nonce=\g<nonce> answers={len(ids)}"
    return {"match": {"prompt": prompt}, "reply": says("".join(f"[{id}] RESOLVED: it is\n" for id in ids) + closing)}


def whole_job(scene: Scene) -> list[Rule]:
    """Three findings: one implemented, one dismissed by the judge, one enforced and then implemented."""
    read = {"do": "read", "path": str(scene.tree / "app.py")}
    safe = '    return db.execute("select * from users where name = ?", (name,)).fetchone()'
    closed = "    with open(path) as file:\n        return file.read()"
    dismiss = {"ruling": "DISMISS", "rationale": "A cache key guards nothing.", "grounds": "misunderstood_context",
               "citations": ["app.py:8"]}
    enforce = {"ruling": "ENFORCE", "rationale": "A process may live long."}
    return [
        {"match": {"prompt": REVIEW}, "steps": [says("I read it.", read), says(FINDINGS)]},
        {"match": {"prompt": ENFORCED},
         "steps": [says("I read it.", read), says("Now.", change(scene, 13, closed)), says(ENFORCED_ANSWER)]},
        {"match": {"prompt": RESPOND},
         "steps": [says("I read it.", read), says("Now.", change(scene, 5, safe)), says(ANSWERS)]},
        *ruling(1, "Replace MD5", dismiss), *ruling(2, "Close the file", enforce),
        recheck("F1", "F3"), recheck("F1"), recheck("F3"),
    ]


def end_to_end(program: Program, server: Server) -> list[str]:
    """Reviewer, coder, disputes, judge, coder again: all by the one program, which really edits the file."""
    with Scene(program, server) as scene:
        scene.connect("reviewer", "coder", "judge")
        server.rules(whole_job(scene))
        ran = scene.review("--arbitrate")
        settled = [(dispute.get("number"), (dispute.get("ruling") or {}).get("ruling"))
                   for dispute in ran.outcome.get("disputes", [])]
        source = scene.read("app.py")
        return [*exits(ran, 0), *left(scene),
                *(f"app.py lacks {part!r}" for part in ("(name,)", "md5", "with open") if part not in source),
                *([] if len(settled) == 2 else [f"disputes: {settled}"])]


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
        ran = scene.review("--arbitrate")
        requests = server.requests()
        stolen = any(entry["path"].startswith(STOLEN) for entry in requests)
        return [*mute, *exits(ran, 0), *left(scene), *(f"the canary {name} sang" for name in scene.sung()),
                *(["requests went to an address of the repository's"] if stolen else [])]


def instructions(program: Program, server: Server) -> list[str]:
    """The repository's instructions for agents are no instructions for its reviewer, where a program can be told so."""
    with Scene(program, server) as scene:
        plant(scene)
        scene.connect("reviewer")
        server.rules([{"match": {"prompt": REVIEW}, "reply": says(CLEAN)}])
        ran = scene.review()
        bodies = [json.dumps(entry.get("body")) for entry in server.requests()]
        read = [name for name in INSTRUCTIONS if any(f"CANARY in {name}" in body for body in bodies)]
        return [*exits(ran, 0), *([] if read == list(program.given) else [f"the reviewer was given {read}"])]


def interrupted(program: Program, server: Server) -> list[str]:
    """SIGINT of Glee while its agent waits for the model: gone within six seconds, with all its processes."""
    with Scene(program, server) as scene:
        scene.connect("reviewer")
        server.rules([{"fault": {"kind": "hang"}}])
        sent: list[float] = []

        def during(process: subprocess.Popen[str]) -> None:
            end = time.monotonic() + 60
            while not any("rounds" in entry for entry in server.requests()) and time.monotonic() < end:
                time.sleep(0.05)
            sent.append(time.monotonic())
            process.send_signal(signal.SIGINT)

        ran = scene.review(during=during)
        took = time.monotonic() - sent[0]
        return [*exits(ran, 130), *left(scene), *([] if took < 6 else [f"took {took:.1f} s to end"])]


def fault(causes: str, *codes: int, reply: Rule | str = CLEAN, **fault: Any) -> Case:
    """The model server does wrong: Glee ends with one of the codes, 4 if none is given, and names one of the causes."""
    def case(program: Program, server: Server) -> list[str]:
        with Scene(program, server) as scene:
            scene.connect("reviewer")
            answer = says(reply) if isinstance(reply, str) else reply
            server.rules([{"match": {"prompt": REVIEW}, "reply": answer, "fault": fault}])
            ran = scene.review(GLEE_LIMITS_TOTAL="20s", GLEE_LIMITS_FIRST_OUTPUT="20s", GLEE_LIMITS_IDLE="10s")
            found = [(failure.get("cause") or {}).get("kind") for failure in ran.outcome.get("failures", [])]
            wrong = [] if any(kind in causes.split() for kind in found) else [f"expected {causes}, found {found}: {ran}"]
            return [*exits(ran, *(codes or (4,))), *left(scene), *wrong]
    return case


CASES: dict[str, Case] = {
    "whole job": end_to_end,
    "write refused": write_refused,
    "canaries": canaries,
    "instructions": instructions,
    "interrupted": interrupted,
    "401": fault("not_logged_in", kind="status", status=401, message="invalid api key"),
    "429": fault("rate_limited", 4, 75, kind="status", status=429, message="rate limit reached"),
    "429 until": fault("rate_limited", 4, 75, kind="status", status=429, message="rate limit reached",
                       headers={"retry-after": "2"}),
    "500": fault("unavailable", kind="status", status=500, message="internal error"),
    "hang": fault("timed_out", kind="hang"),
    "stall": fault("timed_out", kind="stall", after=3),
    "cut": fault("unavailable protocol", kind="cut", after=3),
    "garbage": fault("unavailable protocol", kind="garbage"),
    "empty": fault("empty", reply={"text": ""}),
    "error in a 200": fault("unavailable protocol", kind="status", status=200, message="overloaded",
                            type="overloaded_error"),
}
# Over ACP the rest is a matter of the agent's own settings.
OVER_ACP = ["whole job", "write refused", "interrupted"]


def exits(ran: Ran, *codes: int) -> list[str]:
    return [] if ran.code in codes else [f"expected exit {' or '.join(map(str, codes))}: {ran}"]


def left(scene: Scene) -> list[str]:
    return [f"still runs: {words}" for words in scene.alive()]


def main() -> int:
    wanted = chosen(sys.argv[1:])
    only = [word.removeprefix("--only=") for word in sys.argv[1:] if word.startswith("--only=")]
    names = [name for name in CASES if not only or any(re.search(word, name) for word in only)]
    lock, results = threading.Lock(), {}

    def cases(name: str) -> list[str]:
        return [case for case in names if PROGRAMS[name].adapter != "acp" or case in OVER_ACP]

    def work(name: str) -> None:
        with Server() as server:
            for case in cases(name):
                began = time.monotonic()
                try:
                    problems = CASES[case](PROGRAMS[name], server)
                except Exception as error:  # noqa: BLE001, a case that breaks has failed, and the others still run
                    problems = [f"{type(error).__name__}: {error}"]
                with lock:
                    results[name, case] = not problems
                    word = "FAILED" if problems else "ok"
                    print(f"{name:12}{case:16}{word:8}{time.monotonic() - began:6.1f} s", flush=True)
                    for problem in problems:
                        print("    " + problem.replace("\n", "\n    "), flush=True)

    with ThreadPoolExecutor(len(wanted)) as pool:
        list(pool.map(work, wanted))
    if "--docs" in sys.argv:
        costs = {name: measure(PROGRAMS[name]) for name in wanted} if "--measure" in sys.argv else {}
        write_docs(results, costs)
    return 0 if all(results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
