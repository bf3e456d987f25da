"""The page docs/real-agents.md, written from what runs have proved."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from programs import CACHE, PROGRAMS
from scene import GLEE

if TYPE_CHECKING:
    from measure import Cost

PAGE = Path(__file__).resolve().parents[2] / "docs" / "real-agents.md"
PROVEN = CACHE / "proven.json"

HEAD = """# Real agents

Written by `tests/real_agents/run.sh --docs PROGRAM ...`, which installs each program at this version and has `glee` drive
it against a model server on loopback: the programs are real, the model is a script.

| proof | means |
|---|---|
| whole job | reviewer, coder, two disputes, judge, coder again, in its session where the program keeps one (none over ACP); the program really edits the file; exit 0 |
| watch | in `glee watch` the program does a task as a coder, which really edits the file; its milestone begins a review, and the same program, as a reviewer, sees the diff and approves; the watch ends after it (not over ACP) |
| stop hook | the recipe of [watch.md](watch.md): `claude` stops, the hook hands it the reviewers' question in the same turn, it answers with `glee emit`, and the reviewers approve (`claude` alone) |
| write refused | the reviewer's model calls every tool that writes: refused, the tree byte for byte as before |
| canaries | hooks, MCP servers, plug-ins and addresses in the repository's settings: none took effect in any role |
| instructions | `CLAUDE.md`, `AGENTS.md` and their like were not given to the reviewer |
| interrupted | SIGINT of Glee in the middle: exit 130, no process left |
| 401 ... error in a 200 | the model server's faults: the right exit code and cause, never "clean"; no process left |

"""
TAIL = """

Glee's own time is the wall time of `glee review` on one small file less that of every call of the program, and less
what the script that takes the time costs, median of 20; its memory is the peak of the resident set of the `glee`
process: `run.sh --docs --measure` with a binary of the profile `dist`, on a machine that does nothing else. They are to
stay within 60 ms and 40 MB. `git --version` was timed in turn with it: some calls of git are part of Glee's own time, and
a shared machine that is slow at the one is slow at the other. What was not run with the version of the row is called so;
"its own settings" are a matter of the agent that is asked over ACP.

opencode 1.18.33 loads the modules in `.opencode/plugin` of the tree whatever it is told, so Glee does not start it, in any
role, where there are some. The tries of opencode (5), copilot (5) and qwen (6, for failing services) cannot be turned down, so that a
limit is known a minute later with them than with the others; gemini reads `GEMINI.md` whatever it is told.
"""


def write_docs(results: dict[tuple[str, str], bool], costs: dict[str, Cost]) -> None:
    """Adds a run to what was proven before at the same versions, and writes the page."""
    proven: dict[str, Any] = json.loads(PROVEN.read_text()) if PROVEN.is_file() else {}
    for name in {name for name, _ in results}:
        version = PROGRAMS[name].version
        it = proven[name] if proven.get(name, {}).get("version") == version else {"version": version, "cases": {}}
        it["cases"] |= {case: word(name, case, done) for (which, case), done in results.items() if which == name}
        proven[name] = it | {"day": date.today().isoformat(), "build": GLEE.parent.name}
    for name, cost in costs.items():
        proven[name] |= {"own": f"{cost.own_ms:.0f} ms", "program": f"{cost.program_ms:.0f} ms",
                         "git": f"{cost.git_ms:.1f} ms", "memory": f"{cost.memory / 1e6:.1f} MB"}
    PROVEN.write_text(json.dumps(proven, indent=1))
    names = [name for name, program in PROGRAMS.items() if proven.get(name, {}).get("version") == program.version]
    cases = list(dict.fromkeys(case for name in names for case in proven[name]["cases"]))
    heads = ["program", "version", *cases, "own time", "`git --version`", "program's time", "own memory", "build",
             "day"]
    rows = [heads, ["---"] * len(heads)]
    for name in names:
        it = proven[name]
        last = [it.get(key, "not measured") for key in ("own", "git", "program", "memory", "build", "day")]
        rows.append([name, it["version"], *(it["cases"].get(case) or why_not(name) for case in cases), *last])
    PAGE.write_text(HEAD + "\n".join("| " + " | ".join(row) + " |" for row in rows) + TAIL)


def why_not(name: str) -> str:
    """What stands in the cell of a case that was not run."""
    return "its own settings" if PROGRAMS[name].adapter == "acp" else "not run"


def word(name: str, case: str, done: bool) -> str:
    """What stands in a cell."""
    given = PROGRAMS[name].given if case == "instructions" else ()
    if not done:
        return "**no**"
    if case == "canaries" and PROGRAMS[name].loads:
        return "ok, and refused where there are plug-ins"
    return f"all but {', '.join(f'`{name}`' for name in given)}" if given else "ok"
