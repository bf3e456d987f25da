"""A project with a home of its own, in which the built `glee` asks one real program in every role."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

from programs import CACHE, Program
from server import Server

GLEE = Path(os.environ.get("GLEE", Path(__file__).resolve().parents[2] / "target" / "debug" / "glee")).resolve()

SOURCE = '''import hashlib


def find(db, name):
    return db.execute(f"select * from users where name = '{name}'").fetchone()


def cache_key(name):
    return hashlib.md5(name.encode()).hexdigest()


def load(path):
    return open(path).read()
'''

KNOWN: dict[str, str] = {}


@dataclass
class Ran:
    """What a run of Glee came to."""

    code: int
    stdout: str
    stderr: str
    seconds: float
    peak: int
    """The most memory the process itself had, in bytes."""

    @property
    def outcome(self) -> dict[str, Any]:
        try:
            return json.loads(self.stdout)
        except ValueError:
            return {}

    def __str__(self) -> str:
        return f"exit {self.code} after {self.seconds:.1f} s\n{self.stderr[-2000:]}"


class Scene:
    """Not under /tmp: some programs do not believe settings in a folder that anybody may write to."""

    def __init__(self, program: Program, server: Server) -> None:
        self.program, self.server = program, server
        (CACHE / "scenes").mkdir(parents=True, exist_ok=True)
        self.top = Path(tempfile.mkdtemp(prefix=program.name + "-", dir=CACHE / "scenes"))
        self.home, self.tree, self.canaries = self.top / "home", self.top / "tree", self.top / "canaries"
        # Where the coder works.
        self.worktree = self.tree
        program.write_home(self.home, server.url)
        self.canaries.mkdir()
        self.write("app.py", SOURCE)
        self.git("init", "-q", "-b", "main")
        self.env = {**program.variables(self.home, server.url), "GLEE_STATE_DIR": str(self.home / "state"),
                    "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}

        self.recall()

    def __enter__(self) -> Scene:
        return self

    def __exit__(self, *_: object) -> None:
        self.remember()
        shutil.rmtree(self.top, ignore_errors=True)

    def recall(self) -> None:
        """What Glee found out of the program in an earlier scene of this run, as it would know it on a user's machine."""
        if known := KNOWN.get(self.program.installed):
            self.flags.parent.mkdir(parents=True)
            self.flags.write_text(known)

    def remember(self) -> None:
        if self.flags.is_file():
            KNOWN[self.program.installed] = self.flags.read_text()

    @property
    def flags(self) -> Path:
        return self.home / "state" / "agents" / "programs.json"

    def write(self, name: str, text: str) -> None:
        path = self.tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def read(self, name: str) -> str:
        return (self.tree / name).read_text()

    def git(self, *words: str) -> None:
        subprocess.run(["git", "-C", str(self.tree), *words], check=True, stdout=subprocess.DEVNULL)

    def connect(self, *roles: str, command: str | None = None) -> None:
        """Writes the user's configuration: the program in these roles."""
        self.configure([self.agent(role, self.program, role, command) for role in roles])

    def agent(self, name: str, program: Program, role: str, command: str | None = None) -> dict[str, Any]:
        return {"name": name, "command": [command or program.command[0], *program.command[1:],
                                          *program.args(self.server.url)],
                "adapter": program.adapter, "role": role, **({"model": program.model} if program.model else {}),
                # The other models are in the list of prices.
                **({"price": "1/0.1/10"} if not program.model or "mock" in program.model else {}),
                "env": program.configured(self.server.url)}

    def join(self, program: Program) -> None:
        """Lets Glee find another program, too."""
        program.write_home(self.home, self.server.url)
        path = f"{program.bin}:{self.env['PATH']}"
        self.env = {**program.variables(self.home, self.server.url), **self.env, "PATH": path}

    def configure(self, agents: list[dict[str, Any]], **settings: Any) -> None:
        path = self.home / ".config" / "glee" / "config.yml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"version": 1, "agents": agents, **settings}))

    def review(self, *words: str, during: Callable[[subprocess.Popen[str]], None] | None = None,
               **settings: str) -> Ran:
        """Runs `glee review`; `during` is called once while it works."""
        began = time.monotonic()
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            process = subprocess.Popen([str(GLEE), "review", "--no-input", "--format", "json", *words, "app.py"],
                                       cwd=self.tree, env={**self.env, **settings}, stdin=subprocess.DEVNULL,
                                       stdout=out, stderr=err, text=True)
            if during:
                during(process)
            peak = watch(process, 660)
            seconds = time.monotonic() - began
            out.seek(0)
            err.seek(0)
            return Ran(process.returncode, out.read(), err.read(), seconds, peak)

    def bare(self) -> None:
        """Runs the program itself, in the way in which it believes the tree."""
        args, env = self.program.trusting()
        subprocess.run([str(self.program.bin / self.program.command[0]), *args], cwd=self.tree, input="Say ok.\n",
                       env={**self.env, **env}, text=True, capture_output=True, timeout=300)

    def sung(self) -> list[str]:
        """The canaries that ran."""
        return sorted(path.name for path in self.canaries.iterdir())

    def alive(self) -> list[str]:
        """The living processes of this scene, which all have its home in their environment."""
        mark = f"HOME={self.home}".encode()
        found = []
        for process in Path("/proc").iterdir():
            try:
                if process.name.isdigit() and mark in (process / "environ").read_bytes().split(b"\0"):
                    found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
            except OSError:
                pass
        return [words for words in found if words]

    def digest(self) -> dict[str, str]:
        """Every file of the tree but git's own, with its hash."""
        files = [path for path in self.tree.rglob("*") if path.is_file() and ".git" not in path.parts]
        return {str(path.relative_to(self.tree)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def watch(process: subprocess.Popen[str], limit: float) -> int:
    """Waits for the process, which is killed after `limit` seconds; the peak of its memory in bytes."""
    peak, end = 0, time.monotonic() + limit
    while process.poll() is None:
        try:
            status = Path(f"/proc/{process.pid}/status").read_text()
            peak = max([peak, *(int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmHWM"))])
        except OSError:
            pass
        if time.monotonic() > end:
            process.kill()
        time.sleep(0.01)
    return peak
