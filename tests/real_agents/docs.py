"""The page docs/real-agents.md, written from what a run proved."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from programs import PROGRAMS
from scene import GLEE

if TYPE_CHECKING:
    from measure import Cost

PAGE = Path(__file__).resolve().parents[2] / "docs" / "real-agents.md"

HEAD = """# Real agents

Written by `tests/real_agents/run.sh --docs`, which installs each program at this version and has `glee` drive it
against a model server on loopback: the programs are real, the model is a script. No line here is written by hand.

| proof | means |
|---|---|
| whole job | reviewer, coder, two disputes, judge, coder again; the program really edits the file; exit 0 |
| write refused | the reviewer's model calls every tool that writes: refused, the tree byte for byte as before |
| canaries | hooks, MCP servers, plug-ins and addresses in the repository's settings: none took effect in any role |
| instructions | `CLAUDE.md`, `AGENTS.md` and their like were not given to the reviewer |
| interrupted | SIGINT of Glee in the middle: exit 130 within 6 s, no process left |
| 401 ... error in a 200 | the model server's faults: the right exit code and cause, never "clean"; no process left |

"""
WORDS = {True: "ok", False: "**no**", None: ""}


def word(name: str, case: str, results: dict[tuple[str, str], bool]) -> str:
    """What stands in a cell."""
    done = WORDS[results.get((name, case))]
    given = PROGRAMS[name].given if case == "instructions" and done == "ok" else ()
    return f"all but {', '.join(f'`{name}`' for name in given)}" if given else done


def write_docs(costs: dict[str, Cost], results: dict[tuple[str, str], bool]) -> None:
    cases = list(dict.fromkeys(case for _, case in results))
    names = list(costs)
    rows = [["", *names], ["---"] * (len(names) + 1),
            ["version", *(PROGRAMS[name].version for name in names)],
            *([case, *(word(name, case, results) for name in names)] for case in cases),
            ["Glee's own time", *(f"{costs[name].own_ms:.0f} ms" for name in names)],
            ["the program's time", *(f"{costs[name].program_ms:.0f} ms" for name in names)],
            ["Glee's own memory", *(f"{costs[name].memory / 1e6:.1f} MB" for name in names)]]
    table = "\n".join("| " + " | ".join(row) + " |" for row in rows)
    build = GLEE.parent.name
    tail = f"""

Glee's own time is the wall time of `glee review` on one small file less that of every call of the program, median of
20; its memory is the peak of the resident set of the `glee` process. Build profile `{build}`, {date.today().isoformat()}.
"""
    PAGE.write_text(HEAD + table + tail)
