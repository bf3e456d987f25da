"""The real programs: what is installed, and how each is led to the loopback model server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Callable

HERE = Path(__file__).resolve().parent
CACHE = Path(os.environ.get("GLEE_REAL_AGENTS_CACHE", HERE / ".cache"))
NODE = "22.23.3"
# Made up, and long: some programs redact every occurrence of their key from all they print.
KEY = "sk-made-up-0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Program:
    """One program at the version that the tests are pinned to."""

    name: str
    package: str
    version: str
    model: str
    api: str
    """The form in which it speaks to its model, by the server's name for it."""
    env: Callable[[str], dict[str, str]]
    """The variables that lead it to the server at the URL."""
    files: Callable[[str], dict[str, object]] = field(default=lambda url: {})
    """The files of its HOME: text, or a value to be written as JSON."""
    args: Callable[[str], list[str]] = field(default=lambda url: [])
    """Arguments of the user's own, as `agents.<name>.command` has them."""
    trusting: Callable[[], tuple[list[str], dict[str, str]]] = field(default=lambda: ([], {}))
    """Arguments and variables of a bare call that believes the project in the tree: what the canaries are for."""
    member: Callable[[str], dict[str, str]] | None = None
    """The same of somebody who is logged in, where only they are told when a limit ends."""
    passed: tuple[str, ...] = ()
    """Variables that Glee lets through only where the configuration sets them, by their beginning."""
    command: tuple[str, ...] = ()
    """The words that start it; none means its name."""
    adapter: str = ""
    """How Glee speaks to it, where that does not follow from its name."""
    gives_up: bool = False
    """Whether it ends its turn when it is refused something."""
    slow: bool = False
    """Whether it takes many seconds before it asks its model."""
    takes_cuts: bool = False
    """Whether a reply that was cut off is a whole one to it, so that Glee only misses its closing line."""
    resumes: bool = True
    """Whether it carries a session on."""
    loads: tuple[str, ...] = ()
    """The folders of a repository whose modules it loads whatever it is told: Glee does not start it there."""
    given: tuple[str, ...] = ()
    """The instructions of a repository that it takes whatever it is told."""
    edits_by_text: bool = False
    """Whether it has no tools, and takes a file that its model writes into the answer."""
    cases: tuple[str, ...] = ()
    """The cases that make sense for it; none means all."""
    installed: str = ""
    """The folder of the cache in which it lies; none means its name."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "command", self.command or (self.name,))
        object.__setattr__(self, "adapter", self.adapter or self.name)
        object.__setattr__(self, "installed", self.installed or self.name)

    @property
    def folder(self) -> Path:
        return CACHE / self.installed

    @property
    def bin(self) -> Path:
        return self.folder / ("bin" if self.package.startswith("pypi:") else "node_modules/.bin")

    def install(self) -> None:
        """Installs it at its version."""
        package = f"{self.package}@{self.version}"
        (install_python if package.startswith("pypi:") else install)(self.folder, package)

    def write_home(self, home: Path, url: str) -> None:
        """Puts its settings into a new HOME."""
        # A reader may write to caches and to its program's own folder, but not make them.
        for folder in (".cache", ".copilot"):
            (home / folder).mkdir(parents=True, exist_ok=True)
        for name, content in self.files(url).items():
            path = home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content if isinstance(content, str) else json.dumps(content))

    def variables(self, home: Path, url: str) -> dict[str, str]:
        """The whole environment: nothing of the caller's but PATH."""
        path = [str(self.bin), str(node_bin()), os.environ["PATH"]]
        temporary = home / "tmp"
        temporary.mkdir(parents=True, exist_ok=True)
        return {"PATH": ":".join(path), "HOME": str(home), "TMPDIR": str(temporary), "LANG": "C.UTF-8",
                **self.env(url)}


    def configured(self, url: str) -> dict[str, str]:
        """What `agents.<name>.env` sets."""
        passed = ("",) if self.adapter == "acp" else self.passed
        return {name: value for name, value in self.env(url).items() if name.startswith(passed)}


def node_bin() -> Path:
    return CACHE / "node" / "node_modules" / "node" / "bin"


def install(folder: Path, package: str) -> None:
    """Installs a package with npm, unless the folder has this very version."""
    mark = folder / "installed"
    if mark.is_file() and mark.read_text().strip() == package:
        return
    folder.mkdir(parents=True, exist_ok=True)
    env = {**os.environ, "PATH": f"{node_bin()}:{os.environ['PATH']}"}
    words = ["npm", "install", "--prefix", str(folder), "--no-fund", "--no-audit", "--loglevel", "error", package]
    began = time.monotonic()
    done = subprocess.run(words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=500)
    if done.returncode:
        sys.exit(f"error: npm could not install {package}; is its registry to be reached from here?\n{done.stderr.strip()}")
    print(f"installed {package} in {time.monotonic() - began:.0f} s", flush=True)
    mark.write_text(package)


def install_python(folder: Path, package: str) -> None:
    """Installs a package with pip into an environment of its own, unless the folder has this very version."""
    mark = folder / "installed"
    if mark.is_file() and mark.read_text().strip() == package:
        return
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    words = [str(folder / "bin" / "pip"), "install", "--quiet", *package.removeprefix("pypi:").replace("@", "==").split()]
    done = subprocess.run(words, stderr=subprocess.PIPE, text=True, timeout=500)
    if done.returncode:
        sys.exit(f"error: pip could not install {package}; is its registry to be reached from here?\n{done.stderr.strip()}")
    mark.write_text(package)


def machine_node() -> int:
    """The main version of the machine's own Node; 0 if it has none."""
    try:
        told = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout
        return int(told.lstrip("v").split(".")[0] or 0)
    except (OSError, ValueError):
        return 0


def codex_files(url: str) -> dict[str, object]:
    return {".codex/config.toml": f'''model_provider = "loopback"
[analytics]
enabled = false
[model_providers.loopback]
name = "loopback"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "CODEX_API_KEY"
'''}


def codex_args(url: str) -> list[str]:
    """The same as its file, for a role in which the file is not read."""
    provider = f'{{name="loopback",base_url="{url}/v1",wire_api="responses",env_key="CODEX_API_KEY",' \
               'request_max_retries=0,stream_max_retries=0}'
    return ["-c", 'model_provider="loopback"', "-c", f"model_providers.loopback={provider}"]


def gemini_files(url: str) -> dict[str, object]:
    return {".gemini/settings.json": {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False}, "telemetry": {"enabled": False}}}


def opencode_files(url: str) -> dict[str, object]:
    model = {"tool_call": True, "limit": {"context": 200000, "output": 8000}}
    return {".config/opencode/opencode.json": {
        "autoupdate": False, "share": "disabled", "model": "loopback/mock", "small_model": "loopback/mock",
        "provider": {"loopback": {"npm": "@ai-sdk/openai-compatible", "models": {"mock": model},
                                  "options": {"baseURL": f"{url}/v1", "apiKey": KEY}}}}}


PROGRAMS = {program.name: program for program in [
    Program("claude", "@anthropic-ai/claude-code", "2.1.330", "claude-sonnet-4-5", "anthropic",
            lambda url: {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": KEY},
            lambda url: {".claude.json": {"numStartups": 1}},
            trusting=lambda: (["-p"], {}),
            member=lambda url: {"ANTHROPIC_BASE_URL": url, "CLAUDE_CODE_OAUTH_TOKEN": KEY.replace("sk-", "sk-ant-oat01-")}),
    Program("codex", "@openai/codex", "0.169.0", "gpt-5.5", "responses",
            lambda url: {"CODEX_API_KEY": KEY}, codex_files, codex_args,
            lambda: (["exec", "--trust", "-"], {})),
    Program("gemini", "@google/gemini-cli", "0.61.0", "gemini-2.5-pro", "gemini",
            lambda url: {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": url}, gemini_files,
            trusting=lambda: (["-m", "gemini-2.5-pro"], {"GEMINI_CLI_TRUST_WORKSPACE": "true"}),
            given=("GEMINI.md",)),
    Program("opencode", "opencode-ai", "1.18.33", "loopback/mock", "chat",
            lambda url: {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1"},
            opencode_files, trusting=lambda: (["run", "--title", "x"], {}), passed=("OPENCODE_",), slow=True,
            loads=(".opencode/plugin", ".opencode/plugins")),
    Program("qwen", "@qwen-code/qwen-code", "0.24.4", "mock", "chat",
            lambda url: {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_MODEL": "mock"},
            trusting=lambda: (["--auth-type", "openai"], {}), takes_cuts=True),
    Program("copilot", "@github/copilot", "1.0.102", "mock", "chat",
            lambda url: {"COPILOT_PROVIDER_BASE_URL": f"{url}/v1", "COPILOT_PROVIDER_TYPE": "openai",
                         "COPILOT_PROVIDER_API_KEY": KEY, "COPILOT_MODEL": "mock", "COPILOT_OFFLINE": "true"},
            trusting=lambda: (["--trust-folder"], {}), passed=("COPILOT_",)),
]}


def pi_files(url: str) -> dict[str, object]:
    return {".pi/agent/models.json": {"providers": {"loopback": {
        "baseUrl": f"{url}/v1", "api": "openai-completions", "apiKey": KEY,
        "models": [{"id": "mock", "contextWindow": 200000, "maxTokens": 8000}]}}}}


def with_profile(name: str, package: str, version: str, *cases: str, model: str = "", api: str = "",
                 env: Callable[[str], dict[str, str]] = lambda url: {},
                 files: Callable[[str], dict[str, object]] = lambda url: {}, edits_by_text: bool = False) -> Program:
    """A program that Glee knows by its profile alone."""
    return Program(name, package, version, model, api, env, files, adapter="text", resumes=False, passed=("-",),
                   edits_by_text=edits_by_text, cases=("no login", *cases))


PROGRAMS |= {program.name: program for program in [
    with_profile("pi", "@mariozechner/pi-coding-agent", "0.73.1", "whole job", "write refused", "home closed", "interrupted",
                 "401", "429", model="loopback/mock", api="chat", files=pi_files),
    with_profile("aider", "pypi:aider-chat", "0.86.2", "whole job", model="openai/mock", api="chat", edits_by_text=True,
                 env=lambda url: {"OPENAI_API_KEY": KEY, "OPENAI_API_BASE": f"{url}/v1"}),
    # No program: the server of a model of one's own.
    Program("llama.cpp", "pypi:gguf==0.19.0 xllamacpp", "2026.10.11549", "tiny", "chat", env=lambda url: {},
            cases=("own model",)),
    with_profile("droid", "droid", "0.215.0"),
    with_profile("auggie", "@augmentcode/auggie", "0.36.0"),
    with_profile("amp", "@sourcegraph/amp", "0.0.1790142911-g7618fb"),
]}


def over_acp(program: str, *command: str, package: str = "", version: str = "", installed: str = "",
             gives_up: bool = False) -> Program:
    """A program, or an adapter for it, that speaks the Agent Client Protocol."""
    base = PROGRAMS[program]
    return replace(base, name=f"{program}-acp", package=package or base.package, version=version or base.version,
                   model="", resumes=False, args=lambda url: [], command=command, adapter="acp", installed=installed or program, gives_up=gives_up)


PROGRAMS |= {program.name: program for program in [
    over_acp("claude", "claude-agent-acp", package="@agentclientprotocol/claude-agent-acp", version="0.100.0",
             installed="claude-acp"),
    over_acp("codex", "codex-acp", package="@agentclientprotocol/codex-acp", version="2.6.0", installed="codex-acp",
             gives_up=True),
    over_acp("gemini", "gemini", "--acp", "--skip-trust", "-m", "gemini-2.5-pro", "-e", "none",
             "--allowed-mcp-server-names", "none"),
    over_acp("opencode", "opencode", "acp"),
    over_acp("qwen", "qwen", "--acp", "--auth-type", "openai", "--safe-mode", gives_up=True),
    over_acp("copilot", "copilot", "--acp", "--no-auto-update", "--disable-builtin-mcps", gives_up=True),
]}
DEFAULT = ["claude", "codex", "gemini"]


def chosen(words: list[str]) -> list[str]:
    """The programs that a command line names."""
    names = [word for word in words if not word.startswith("--")]
    return list(PROGRAMS) if names == ["all"] else names or DEFAULT


if __name__ == "__main__":
    if machine_node() < int(NODE.split(".")[0]):
        install(CACHE / "node", f"node@{NODE}")
    # Several names may stand for one folder.
    for program in {PROGRAMS[name].folder: PROGRAMS[name] for name in chosen(sys.argv[1:])}.values():
        program.install()
