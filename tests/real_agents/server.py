"""The loopback model server as the tests use it: started, told its rules, asked what it saw, stopped."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


class Server:
    """`mock_llm.py` as a child process."""

    def __init__(self) -> None:
        self.process = subprocess.Popen([sys.executable, str(HERE / "mock_llm.py"), "--log-bodies"],
                                        stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip().removeprefix("MOCK_LLM_URL=")

    def rules(self, rules: list[dict[str, Any]]) -> None:
        """Replaces the rules, and forgets what was asked."""
        self._post("rules", rules)
        self._post("reset", {})

    def requests(self) -> list[dict[str, Any]]:
        with urllib.request.urlopen(f"{self.url}/__mock/requests", timeout=10) as answer:
            return json.load(answer)

    def _post(self, verb: str, body: Any) -> None:
        data = json.dumps(body).encode()
        urllib.request.urlopen(f"{self.url}/__mock/{verb}", data=data, timeout=10).read()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait()
