"""What Glee itself costs beside the program that it runs."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from dataclasses import dataclass

from programs import Program
from scene import GLEE, Scene
from server import Server

RUNS = 20

WRAPPER = """#!/bin/bash
begin=$EPOCHREALTIME
"{program}" "$@"
code=$?
echo "times: $begin $EPOCHREALTIME" >&2
exit $code
"""


@dataclass
class Cost:
    """The median over the runs of a review."""

    own_ms: float
    """Wall time less that of every call of the program, and less what the script that takes the time costs."""
    program_ms: float
    git_ms: float
    """What `git --version` takes meanwhile, to tell a slow machine from a slow Glee."""
    memory: int
    """The peak of Glee's own memory in bytes."""


def measure(program: Program) -> Cost:
    """Reviews a clean file again and again with the program behind a script that takes the time."""
    from run import CLEAN, REVIEW, says

    with Server() as server, Scene(program, server) as scene:
        wrapper = scene.top / "bin" / program.command[0]
        wrapper.parent.mkdir()
        wrapper.write_text(WRAPPER.format(program=program.bin / program.command[0]))
        wrapper.chmod(0o755)
        scene.connect("reviewer", command=str(wrapper))
        server.rules([{"match": {"prompt": REVIEW}, "reply": says(CLEAN)}])
        memory = scene.review().peak

        def timed(words: list[str]) -> tuple[float, float]:
            """The wall time of a command beyond that of the calls it made, and that of the calls, in milliseconds."""
            known = set(scene.home.rglob("*.stderr"))
            began = time.monotonic()
            ended = subprocess.run(words, cwd=scene.tree, env=scene.env, stdin=subprocess.DEVNULL, capture_output=True,
                                   check=True, text=True)
            wall = time.monotonic() - began
            # A program that is held writes nowhere else that outlives it: Glee keeps its stderr.
            kept = [path.read_text() for path in set(scene.home.rglob("*.stderr")) - known]
            lines = "".join([ended.stderr, *kept]).splitlines()
            times = [line.split()[1:] for line in lines if line.startswith("times: ")]
            assert times or words[0] == "git", f"{words}: the script took no time"
            calls = sum(float(end) - float(begin) for begin, end in times)
            return (wall - calls) * 1000, calls * 1000

        idle = scene.top / "bin" / "idle"
        idle.write_text(WRAPPER.format(program="/bin/true"))
        idle.chmod(0o755)
        review = [str(GLEE), "review", "--full", "--no-input", "--format", "json", "app.py"]
        # What the cases before have left to be written would be waited for here.
        os.sync()
        reviews, stopwatch, git = [], [], []
        for _ in range(RUNS):
            reviews.append(timed(review))
            stopwatch.append(timed([str(idle)])[0])
            git.append(timed(["git", "--version"])[0])
    own, inner = (statistics.median(column) for column in zip(*reviews, strict=True))
    return Cost(own - statistics.median(stopwatch), inner, statistics.median(git), memory)
