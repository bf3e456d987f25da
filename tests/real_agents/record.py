#!/usr/bin/env python3
"""Records what each real program prints, case by case, into tests/recorded/<program>/.

    tests/real_agents/record.py [PROGRAM[/CASE] ...]

Every case is a program, a role's arguments and a rule of the loopback server. Paths, ids, times and keys are replaced
by fixed ones, so that a new recording differs only where the program does.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from programs import KEY, PROGRAMS, Program
from server import Server

RECORDED = Path(__file__).resolve().parent.parent / "recorded"
NONCE = "0123456789abcdef0123456789abcdef"
SOURCE = "def find(db, name):\n    return db.execute(f\"select * from users where name = '{name}'\")\n"
OLD = "    return db.execute(f\"select * from users where name = '{name}'\")"
NEW = '    return db.execute("select * from users where name = ?", (name,))'
SCHEMA = {"type": "object", "additionalProperties": False, "required": ["nonce", "dispute", "ruling", "rationale"],
          "properties": {"nonce": {"type": "string"}, "dispute": {"type": "integer"},
                         "ruling": {"type": "string", "enum": ["ENFORCE", "DISMISS", "ESCALATE"]},
                         "rationale": {"type": "string"}}}
RULING = {"nonce": NONCE, "dispute": 1, "ruling": "ENFORCE", "rationale": "The name comes from outside."}
REVIEW = ("[MUST] find.py:2 Use a parameter in the query\n  The name comes from outside.\n"
          f"GLEE-REVIEW-END nonce={NONCE} findings=1")
DONE = f"[F1] IMPLEMENTED: the name is a parameter now\nGLEE-RESPONSE-END nonce={NONCE} answers=1"

CODEX = ["--skip-git-repo-check", "--disable", "plugins", "--disable", "apps",
         "--disable", "unbounded_connection_retries", "-c", "analytics.enabled=false"]
COPILOT = ["--no-auto-update", "--disable-client-telemetry", "--no-color", "--output-format", "json",
           "--no-ask-user", "--disable-builtin-mcps", "--no-custom-instructions"]
CLAUDE = ["-p", "--output-format", "stream-json", "--verbose", "--setting-sources", "", "--strict-mcp-config"]
GEMINI = ["--skip-trust", "-o", "stream-json", "-e", "none", "--allowed-mcp-server-names", "none"]

# The arguments of each role, with every program's streaming form.
ROLES: dict[str, dict[str, list[str]]] = {
    "claude": {
        "reviewer": [*CLAUDE, "--tools", "Read,Grep,Glob", "--permission-mode", "dontAsk", "--restricted",
                     "--no-session-persistence", "--disable-slash-commands", "--model", "claude-sonnet-4-5"],
        "coder": [*CLAUDE, "--tools", "Read,Grep,Glob,Edit,Write", "--permission-mode", "acceptEdits",
                  "--model", "claude-sonnet-4-5"],
        "judge": [*CLAUDE, "--tools", "", "--no-session-persistence", "--json-schema", json.dumps(SCHEMA),
                  "--model", "claude-sonnet-4-5"],
    },
    "codex": {
        "reviewer": ["exec", "--json", "--ephemeral", "-s", "read-only", *CODEX, "-c", "project_doc_max_bytes=0",
                     "-c", "web_search=disabled", "-m", "gpt-5.5", "-"],
        "coder": ["exec", "--json", "-s", "workspace-write", *CODEX, "-m", "gpt-5.5", "-"],
        "judge": ["exec", "--json", "--ephemeral", "-s", "read-only", *CODEX, "--disable", "shell_tool",
                  "--disable", "unified_exec", "--disable", "multi_agent", "--disable", "goals",
                  "--disable", "view_image", "--disable", "image_generation", "--disable", "hooks",
                  "-c", "web_search=disabled", "-c", "project_doc_max_bytes=0",
                  "--output-schema", "SCHEMA_FILE", "-m", "gpt-5.5", "-"],
    },
    "gemini": {
        "reviewer": [*GEMINI, "--approval-mode", "default", "-m", "gemini-2.5-pro"],
        "coder": [*GEMINI, "--approval-mode", "auto_edit", "-m", "gemini-2.5-pro"],
        "judge": [*GEMINI, "--approval-mode", "default", "-m", "gemini-2.5-pro"],
    },
    "opencode": dict.fromkeys(
        ["reviewer", "coder", "judge"],
        ["run", "--pure", "--format", "json", "--title", "glee", "-m", "loopback/mock"]),
    "qwen": {
        "reviewer": ["--auth-type", "openai", "--safe-mode", "--approval-mode", "plan", "-o", "stream-json"],
        "coder": ["--auth-type", "openai", "--safe-mode", "--approval-mode", "auto-edit", "-o", "stream-json"],
        "judge": ["--auth-type", "openai", "--safe-mode", "--approval-mode", "plan", "-o", "stream-json",
                  "--json-schema", json.dumps(SCHEMA)],
    },
    "copilot": {
        "reviewer": [*COPILOT, "--available-tools=view,grep,glob"],
        "coder": [*COPILOT, "--allow-tool=write"],
        "judge": [*COPILOT, "--available-tools=none"],
    },
}
OPENCODE = {
    "reviewer": {"edit": "deny", "bash": "deny", "webfetch": "deny", "task": "deny", "external_directory": "deny"},
    "coder": {"bash": "deny", "webfetch": "deny", "task": "deny", "external_directory": "deny"},
    "judge": {"*": "deny"},
}
# The programs' own retries, turned down where a setting of theirs can do it.
RETRIES: dict[str, dict[str, str]] = {"claude": {"CLAUDE_CODE_MAX_RETRIES": "0"}}


def step(text: str = "", **call: str) -> dict[str, Any]:
    return {"text": text, "calls": [call]} if call else {"text": text}


def cases(tree: Path) -> dict[str, dict[str, Any]]:
    """Every case: its role, its rule, and what else is different about it."""
    file = str(tree / "find.py")
    read = step("I read the file first.", do="read", path=file)
    edit = step("Now I change it.", do="edit", path=file, old=OLD, new=NEW)
    write = step("I write a note.", do="write", path=str(tree / "written.txt"), content="written\n")
    outside = step("I write outside.", do="write", path="/var/outside.txt", content="written\n")
    review = {"steps": [read, step(REVIEW)]}

    def fault(kind: str, **more: Any) -> dict[str, Any]:
        return {"reply": REVIEW, "fault": {"kind": kind, **more}}

    return {
        "reviewer": {"rule": review},
        "coder": {"role": "coder", "rule": {"steps": [read, edit, step(DONE)]}},
        "judge": {"role": "judge", "rules": [
            *({"match": {"tool": f"^{tool}$"},
               "steps": [{"calls": [{"name": tool, "args": RULING}]}, step("Ruled.")]}
              for tool in ["StructuredOutput", "structured_output"]),
            {"reply": json.dumps(RULING)}]},
        "judge-prose": {"role": "judge", "rule": {"reply": "I would enforce it."}},
        "unauthorized": {"rule": fault("status", status=401, message="invalid api key")},
        "no-login": {"rule": review, "without": ["ANTHROPIC_API_KEY", "CODEX_API_KEY", "GEMINI_API_KEY",
                                                 "OPENAI_API_KEY", "COPILOT_PROVIDER_API_KEY"]},
        "rate-limited": {"rule": fault("status", status=429, message="rate limit reached")},
        "rate-limited-until": {"rule": fault("status", status=429, message="rate limit reached",
                                             headers={"retry-after": "2"})},
        "over-quota": {"rule": fault("status", status=429, message="You exceeded your current quota",
                                     type="insufficient_quota")},
        "server-error": {"rule": fault("status", status=500, message="internal error")},
        "error-in-200": {"rule": fault("status", status=200, message="overloaded", type="overloaded_error")},
        "error-event": {"rule": fault("event", after=3, message="overloaded", type="overloaded_error")},
        "hang": {"rule": fault("hang"), "after": 8},
        "stall": {"rule": fault("stall", after=4), "after": 8},
        "cut": {"rule": fault("cut", after=4)},
        "garbage": {"rule": fault("garbage")},
        "empty": {"rule": {"reply": ""}},
        "truncated": {"rule": {"reply": {"text": REVIEW[:40], "stop": "max_tokens"}}},
        "max-turns": {"rule": {"steps": [read, read, read, step(REVIEW)]}, "only": ["claude", "gemini", "qwen"]},
        "write-refused": {"rule": {"steps": [write, step(REVIEW)]}},
        "outside-refused": {"role": "coder", "rule": {"steps": [outside, step(DONE)]}},
        "bad-flag": {"rule": review, "more": ["--no-such-flag"]},
        "interrupted": {"rule": fault("hang"), "after": 8, "signal": signal.SIGINT},
    }


def command(program: Program, case: str, spec: dict[str, Any], home: Path) -> tuple[list[str], dict[str, str]]:
    """The arguments and the variables of a case beyond the program's own."""
    role = spec.get("role", "reviewer")
    args = list(ROLES[program.name][role])
    more = list(spec.get("more", []))
    env = dict(RETRIES.get(program.name, {}))
    if program.name == "opencode":
        env |= {"OPENCODE_CONFIG_CONTENT": json.dumps({"permission": OPENCODE[role]}),
                "OPENCODE_DISABLE_PROJECT_CONFIG": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"}
    if program.name == "gemini":
        path = home / ".gemini" / "settings.json"
        settings = json.loads(path.read_text())
        settings["general"]["maxAttempts"] = 1
        if case == "max-turns":
            settings["model"] = {"maxSessionTurns": 2}
        path.write_text(json.dumps(settings))
        env |= {"GEMINI_CLI_NO_RELAUNCH": "true", "NO_COLOR": "1"}
    if program.name == "claude":
        env |= {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}
        if case == "max-turns":
            more = ["--max-turns", "2"]
    if program.name == "qwen" and case == "max-turns":
        more = ["--max-session-turns", "2"]
    if "SCHEMA_FILE" in args:
        (home / "schema.json").write_text(json.dumps(SCHEMA))
        args[args.index("SCHEMA_FILE")] = str(home / "schema.json")
    end = len(args) - 1 if args[-1] == "-" else len(args)
    return args[:end] + more + args[end:], env


class Scrub:
    """Replaces what differs from run to run."""

    def __init__(self, places: dict[str, str]) -> None:
        self.places = sorted(places.items(), key=lambda pair: -len(pair[0]))
        self.ids: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        for real, shown in self.places:
            text = text.replace(real, shown).replace(real.replace("/", "-"), shown.replace("/", "-"))
        text = text.replace(KEY, "sk-scrubbed").replace(KEY[-4:], "0000")
        text = re.sub(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",
                      lambda found: self.number(found[0], "00000000-0000-4000-8000-{:012}"), text)
        text = re.sub(r"\b(ses|msg|prt|tool|req|resp|call)_(?!mock)[0-9A-Za-z]{10,}\b",
                      lambda found: self.number(found[0], found[1] + "_{:020}"), text)
        text = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:8080", text)
        text = re.sub(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "2026-11-21T12:00:00.000Z", text)
        text = re.sub(r"\b20\d\d-\d\d-\d\dT\d\d-\d\d-\d\d", "2026-11-21T12-00-00", text)
        text = re.sub(r"\b17[6-9]\d{10}\b", "1795262400000", text)
        text = re.sub(r"/tmp/glee-record-\w*", "/tree", text)  # a path that comes in pieces
        text = re.sub(r"-tmp-glee-record-[\w-]+?-(tree|home)", r"-\1", text)
        text = re.sub(r"cc-socks/\d+", "cc-socks/1", text)
        return re.sub(r'("[A-Za-z_]*(?:_ms|duration|Ms|elapsed|Duration)":\s*)[\d.]+', r"\g<1>100", text)

    def number(self, real: str, form: str) -> str:
        return self.ids.setdefault(real, form.format(len(self.ids) + 1))


def group_alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def run(words: list[str], env: dict[str, str], cwd: Path, prompt: str, spec: dict[str, Any]) -> tuple[bytes, bytes, int, float]:
    """Runs the program in a group of its own, and signals the group after the case's time."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(words, env=env, cwd=cwd, stdin=subprocess.PIPE, stdout=out, stderr=err,
                                   start_new_session=True)
        try:
            process.stdin.write(prompt.encode())
            process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            process.wait(spec.get("after", 100))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, spec.get("signal", signal.SIGTERM))
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                pass
        if group_alive(process.pid):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        out.seek(0)
        err.seek(0)
        return out.read(), err.read(), process.returncode, time.monotonic() - began


def record(program: Program, server: Server, wanted: str | None) -> None:
    folder = RECORDED / program.name
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="glee-record-") as top:
        names = list(cases(Path(top)))
    for case in names:
        if wanted and not re.fullmatch(wanted, case):
            continue
        with tempfile.TemporaryDirectory(prefix="glee-record-") as top:
            home, tree = Path(top) / "home", Path(top) / "tree"
            spec = cases(tree)[case]
            if program.name not in spec.get("only", PROGRAMS):
                continue
            tree.mkdir()
            (tree / "find.py").write_text(SOURCE)
            subprocess.run(["git", "init", "-q", str(tree)], check=True)
            program.write_home(home, server.url)
            args, more = command(program, case, spec, home)
            env = {**program.variables(home, server.url), **more}
            for name in spec.get("without", []):
                env.pop(name, None)
            server.rules(spec.get("rules") or [spec["rule"]])
            prompt = f"You are asked as {spec.get('role', 'reviewer')}. Read find.py and answer.\n"
            out, err, status, seconds = run([str(program.bin / program.name), *args], env, tree, prompt, spec)
            asked = len([entry for entry in server.requests() if "rounds" in entry])
            scrub = Scrub({str(home): "/home/user", str(tree): "/tree", str(program.folder): "/opt/" + program.name,
                           top: "/tmp/top"})
            (folder / f"{case}.stdout").write_text(scrub(out.decode("utf-8", "replace")))
            (folder / f"{case}.stderr").write_text(scrub(err.decode("utf-8", "replace")))
            meta = {"program": program.name, "version": program.version, "role": spec.get("role", "reviewer"),
                    "args": [scrub(arg) for arg in args],
                    "env": {name: scrub(value) for name, value in more.items()},
                    "exit_code": status if status >= 0 else None, "signal": -status if status < 0 else None,
                    "sent": signal.Signals(spec.get("signal", signal.SIGTERM)).name if "after" in spec else None,
                    "requests": asked}
            (folder / f"{case}.json").write_text(json.dumps(meta, indent=2) + "\n")
            print(f"{program.name:9}{case:20} rc {status:4}  {len(out):7} {len(err):6} bytes  {asked} requests"
                  f"  {seconds:5.1f} s", flush=True)


def main() -> None:
    wanted = sys.argv[1:] or list(PROGRAMS)
    with Server() as server:
        for word in wanted:
            name, _, case = word.partition("/")
            record(PROGRAMS[name], server, case or None)


if __name__ == "__main__":
    main()
