#!/usr/bin/env python3
"""mock_llm.py - a scripted model server on loopback, for testing agent CLIs.

It speaks enough of four model APIs for a coding-agent CLI to complete a turn:

  Anthropic Messages        POST .../v1/messages            (JSON or SSE)
  OpenAI Responses          POST .../responses              (JSON or SSE)
  OpenAI Chat Completions   POST .../chat/completions       (JSON or SSE)
  Gemini                    POST .../models/M:generateContent
                            POST .../models/M:streamGenerateContent

What it answers is decided by rules read from a JSON file (--rules).  Rules are
tried in order and the first whose `match` fits is used; when none fits, the
--default-text is sent.  Python 3.11, standard library only.

RULES FILE: a list of rules, or {"rules": [...]}.  A rule:

  {
    "name":  "say-hi",              optional, shown in the log
    "match": {                      every given key must fit (all optional)
      "prompt":      "regex",       the latest user text
      "conversation":"regex",       all user texts, joined by newlines
      "system":      "regex",       the system prompt / instructions
      "model":       "regex",       the model name
      "api":         "regex",       anthropic | responses | chat | gemini
      "path":        "regex",       the request path
      "tool":        "regex",       some offered tool has such a name
      "tool_result": "regex",       the latest tool result
      "has_tools":   true           whether any tools are offered
    },                              (a plain string means {"prompt": ...})
    "skip":  0,                     let this many matching requests pass first
    "times": 1,                     then use the rule at most this often
    "delay_ms": 0,                  wait before the reply
    "chunk_delay_ms": 0,            wait between streamed events
    "reply": REPLY   or  "steps": [REPLY, ...]   and/or  "fault": FAULT
  }

  REPLY: {"text": "...", "text_file": "path", "repeat": 1, "expand": false,
          "thinking": "...", "calls": [CALL, ...],
          "usage": {"input": 11, "output": 7, "cached": 0}, "stop": "max_tokens"}
    `steps` picks the reply by how many rounds of tool results have followed
    the latest user text (0, 1, ...; the last step repeats).  It needs no
    state, so a client's retries get the same answer.  With `expand`, \\1 and
    \\g<name> in the text and in the calls' arguments are groups of the prompt
    regex, or where there is none of the conversation regex.

  CALL: {"name": "Write", "args": {...}}         sent as it stands; or
        {"name": "exec", "input": "..."}         a free-form (custom) tool; or
        {"do": "write", "path": P, "content": C}
        {"do": "edit",  "path": P, "old": O, "new": N}
        {"do": "read",  "path": P}
        {"do": "shell", "command": S}            mapped onto a tool the client
    offered (Write, write_file, create, apply_patch, exec_command, ...).

  FAULT: {"kind": "status", "status": 429, "message": "...", "type": "...",
          "headers": {"retry-after": "1"}, "body": {...}}    the body in
                                                 place of the API's own form
         {"kind": "hang",   "seconds": 3600}     accept, then say nothing
         {"kind": "stall",  "after": 2, "seconds": 3600}   stream, then stall
         {"kind": "cut",    "after": 2}          stream, then drop the line
         {"kind": "close"}                       drop the line unanswered
         {"kind": "event",  "after": 2, "message": "...", "type": "..."}
                                                 stream, then an error event
         {"kind": "garbage"}                     200 with a body of nonsense

CONTROL (loopback only, like everything here):
  GET  /__mock/health     {"ok": true}
  GET  /__mock/requests   the requests seen so far
  POST /__mock/reset      forget them, and the rules' use counts
  POST /__mock/rules      replace the rules by the body

Give clients a long made-up key, never a single letter: some (copilot) redact
every occurrence of the key from all they print.

On start one line `MOCK_LLM_URL=http://127.0.0.1:PORT` goes to stdout (and the
port to --port-file).  SIGTERM and SIGINT stop it cleanly with exit status 0.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import os
import re
import select
import signal
import socket
import sys
import threading
import time
import uuid
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

VERSION = "1.0"


# --------------------------------------------------------------------------
# requests, made uniform


@dataclass
class Turn:
    """One entry of the conversation, whatever API it came in by."""

    role: str  # user | assistant | tool
    text: str


@dataclass
class Request:
    """A model request in the mock's own terms."""

    api: str
    path: str
    model: str
    stream: bool
    system: str
    turns: list[Turn]
    tools: dict[str, dict[str, Any]]  # name -> {"kind": ..., "params": {...}}
    body: dict[str, Any] = field(repr=False)

    @property
    def prompt(self) -> str:
        """The latest user text: all user turns after the last reply."""
        end = len(self.turns)
        while end and self.turns[end - 1].role != "user":
            end -= 1
        start = end
        while start and self.turns[start - 1].role == "user":
            start -= 1
        return "\n".join(t.text for t in self.turns[start:end])

    @property
    def conversation(self) -> str:
        return "\n".join(t.text for t in self.turns if t.role == "user")

    @property
    def rounds(self) -> int:
        """Rounds of tool results since the latest user text."""
        count = 0
        previous = ""
        for turn in self.turns:
            if turn.role == "user":
                count = 0
            elif turn.role == "tool" and previous != "tool":
                count += 1
            previous = turn.role
        return count

    @property
    def tool_result(self) -> str:
        for turn in reversed(self.turns):
            if turn.role == "tool":
                return turn.text
        return ""


def plain(content: Any) -> str:
    """The text inside a content value: a string, a part, or a list of them."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(filter(None, (plain(part) for part in content)))
    if isinstance(content, dict):
        for key in ("text", "content", "output"):
            if key in content:
                return plain(content[key])
        return json.dumps(content)
    return str(content)


def read_anthropic(body: dict[str, Any], path: str) -> Request:
    turns: list[Turn] = []
    for message in body.get("messages", []):
        role, content = message.get("role", "user"), message.get("content")
        if isinstance(content, str):
            turns.append(Turn(role, content))
            continue
        results = [p for p in content or [] if p.get("type") == "tool_result"]
        texts = [p for p in content or [] if p.get("type") == "text"]
        for part in results:
            turns.append(Turn("tool", plain(part.get("content"))))
        # Text beside a tool result is a reminder, not a new question.
        if texts and not (results and role == "user"):
            turns.append(Turn(role, plain(texts)))
        elif role == "assistant" and not texts:
            turns.append(Turn(role, ""))
    tools = {
        t["name"]: {"kind": "function", "params": t.get("input_schema") or {}}
        for t in body.get("tools") or []
        if "name" in t
    }
    return Request(
        "anthropic", path, body.get("model", ""), bool(body.get("stream")),
        plain(body.get("system")), turns, tools, body,
    )


def add_responses_tool(tools: dict[str, dict[str, Any]], tool: dict[str, Any],
                       prefix: str) -> None:
    kind = tool.get("type", "function")
    name = tool.get("name") or kind
    if kind == "namespace":
        inner = "" if name == "functions" else f"{prefix}{name}."
        for each in tool.get("tools") or []:
            add_responses_tool(tools, each, inner)
    else:
        tools[prefix + name] = {
            "kind": kind, "params": tool.get("parameters") or {},
            "about": tool.get("description") or ""}


def read_responses(body: dict[str, Any], path: str) -> Request:
    turns: list[Turn] = []
    items = body.get("input") or []
    if isinstance(items, str):
        items = [{"type": "message", "role": "user", "content": items}]
    system = [plain(body.get("instructions"))]
    for item in items:
        kind = item.get("type", "message")
        if kind == "additional_tools":
            continue
        if kind == "message":
            role = item.get("role", "user")
            if role in ("system", "developer"):
                system.append(plain(item.get("content")))
            else:
                turns.append(Turn(role, plain(item.get("content"))))
        elif kind.endswith("_output"):
            turns.append(Turn("tool", plain(item.get("output"))))
        elif kind.endswith("_call"):
            turns.append(Turn("assistant", ""))
    tools: dict[str, dict[str, Any]] = {}
    offered = list(body.get("tools") or [])
    for item in items:
        if item.get("type") == "additional_tools":  # codex "code mode"
            offered += item.get("tools") or []
    for tool in offered:
        add_responses_tool(tools, tool, "")
    return Request(
        "responses", path, body.get("model", ""), bool(body.get("stream")),
        "\n".join(filter(None, system)), turns, tools, body,
    )


def read_chat(body: dict[str, Any], path: str) -> Request:
    turns: list[Turn] = []
    system: list[str] = []
    for message in body.get("messages", []):
        role, text = message.get("role", "user"), plain(message.get("content"))
        if role in ("system", "developer"):
            system.append(text)
        else:
            turns.append(Turn("tool" if role == "function" else role, text))
    tools = {
        t["function"]["name"]: {
            "kind": "function", "params": t["function"].get("parameters") or {},
        }
        for t in body.get("tools") or []
        if t.get("type") == "function"
    }
    return Request(
        "chat", path, body.get("model", ""), bool(body.get("stream")),
        "\n".join(system), turns, tools, body,
    )


def read_gemini(body: dict[str, Any], path: str, model: str, stream: bool) -> Request:
    turns: list[Turn] = []
    for entry in body.get("contents") or []:
        role = "assistant" if entry.get("role") == "model" else "user"
        texts: list[str] = []
        results: list[str] = []
        for part in entry.get("parts") or []:
            if "functionResponse" in part:
                answer = part["functionResponse"].get("response")
                results.append(answer if isinstance(answer, str) else json.dumps(answer))
            elif part.get("text"):
                texts.append(part["text"])
        for result in results:
            turns.append(Turn("tool", result))
        if not results:
            turns.append(Turn(role, "\n".join(texts)))
    system = body.get("systemInstruction") or body.get("system_instruction") or {}
    tools: dict[str, dict[str, Any]] = {}
    for group in body.get("tools") or []:
        for tool in group.get("functionDeclarations") or []:
            tools[tool["name"]] = {
                "kind": "function",
                "params": tool.get("parametersJsonSchema") or tool.get("parameters") or {},
            }
    return Request(
        "gemini", path, model, stream,
        plain(system.get("parts") if isinstance(system, dict) else system),
        turns, tools, body,
    )


# --------------------------------------------------------------------------
# rules


@dataclass
class Call:
    """A tool call to send: `args` for a function, `text` for a custom tool."""

    name: str
    args: dict[str, Any]
    text: str | None = None
    id: str = ""


@dataclass
class Reply:
    text: str = ""
    thinking: str = ""
    calls: list[Call] = field(default_factory=list)
    usage: dict[str, int] = field(default_factory=dict)
    stop: str = ""


class RuleError(ValueError):
    """A rules file that cannot be used."""


class Rule:
    KEYS = ("prompt", "conversation", "system", "model", "api", "path",
            "tool", "tool_result", "has_tools")

    def __init__(self, spec: dict[str, Any], index: int, base: Path) -> None:
        if not isinstance(spec, dict):
            raise RuleError(f"rule {index} is not an object")
        self.spec = spec
        self.base = base
        self.name = str(spec.get("name", f"rule-{index}"))
        match = spec.get("match", {})
        if isinstance(match, str):
            match = {"prompt": match}
        unknown = set(match) - set(self.KEYS)
        if unknown:
            raise RuleError(f"{self.name}: unknown match keys {sorted(unknown)}")
        self.has_tools = match.get("has_tools")
        try:
            self.patterns = {
                key: re.compile(value, re.S)
                for key, value in match.items()
                if key != "has_tools"
            }
        except re.error as error:
            raise RuleError(f"{self.name}: bad regex: {error}") from error
        self.seen = 0
        self.used = 0

    def fits(self, request: Request) -> bool:
        if self.has_tools is not None and bool(request.tools) != self.has_tools:
            return False
        for key, pattern in self.patterns.items():
            if key == "tool":
                if not any(pattern.search(name) for name in request.tools):
                    return False
            elif not pattern.search(getattr(request, key)):
                return False
        return True

    def take(self) -> bool:
        """Counts a match; false when `skip` or `times` say to pass it on."""
        self.seen += 1
        if self.seen <= int(self.spec.get("skip", 0)):
            return False
        if "times" in self.spec and self.used >= int(self.spec["times"]):
            return False
        self.used += 1
        return True

    def found(self, request: Request) -> re.Match[str] | None:
        for key in ("prompt", "conversation"):
            if key in self.patterns:
                return self.patterns[key].search(getattr(request, key))
        return None

    def reply(self, request: Request) -> Reply:
        steps = self.spec.get("steps")
        spec = steps[min(request.rounds, len(steps) - 1)] if steps else self.spec.get("reply", {})
        if isinstance(spec, str):
            spec = {"text": spec}
        text = spec.get("text", "")
        if "text_file" in spec:
            text = (self.base / spec["text_file"]).read_text(encoding="utf-8")
        found = self.found(request) if spec.get("expand") else None
        if found:
            text = found.expand(text)
        text *= int(spec.get("repeat", 1))
        calls = []
        for number, call in enumerate(spec.get("calls", [])):
            made = adapt_call(expanded(call, found) if found else call, request)
            made.id = f"call_mock_{len(request.turns)}_{number}"
            calls.append(made)
        return Reply(text, spec.get("thinking", ""), calls,
                     dict(spec.get("usage", {})), spec.get("stop", ""))


def expanded(value: Any, found: re.Match[str]) -> Any:
    """The value with every string in it filled from the match."""
    if isinstance(value, str):
        return found.expand(value) if "\\" in value else value
    if isinstance(value, dict):
        return {key: expanded(each, found) for key, each in value.items()}
    if isinstance(value, list):
        return [expanded(each, found) for each in value]
    return value


def load_rules(value: Any, base: Path) -> list[Rule]:
    if isinstance(value, dict):
        value = value.get("rules", [])
    if not isinstance(value, list):
        raise RuleError("the rules must be a list, or an object with `rules`")
    return [Rule(spec, number, base) for number, spec in enumerate(value)]


# What each client calls its tools, and how its arguments are named.
WRITE_TOOLS = {
    "Write": ("file_path", "content"),          # claude
    "write_file": ("file_path", "content"),     # gemini, qwen
    "write": ("filePath", "content"),           # opencode
    "create": ("path", "file_text"),            # copilot
    "create_file": ("path", "content"),
}
EDIT_TOOLS = {
    "Edit": ("file_path", "old_string", "new_string"),
    "replace": ("file_path", "old_string", "new_string"),
    "edit": ("filePath", "oldString", "newString"),
    "str_replace": ("path", "old_str", "new_str"),
}
READ_TOOLS = {
    "Read": "file_path", "read_file": "file_path", "read": "filePath", "view": "path",
}
SHELL_TOOLS = {
    "Bash": "command", "bash": "command", "run_shell_command": "command",
    "exec_command": "cmd", "shell_command": "command", "shell": "command",
}


def adapt_call(spec: dict[str, Any], request: Request) -> Call:
    """Turns a CALL of the rules into one that this client's tools can take."""
    if "name" in spec:
        return Call(spec["name"], dict(spec.get("args", {})), spec.get("input"))
    kind = spec.get("do")
    offered = request.tools
    path = spec.get("path", "")
    if kind == "write":
        for name, (p, c) in WRITE_TOOLS.items():
            if name in offered:
                return fit(request, name, {p: path, c: spec["content"]})
        lines = "".join(f"+{line}\n" for line in spec["content"].splitlines())
        if patch := patch_call(request, f"*** Add File: {path}\n{lines}"):
            return patch
        quoted = shell_quote(spec["content"])
        return shell_call(request, f"printf %s {quoted} > {shell_quote(path)}")
    if kind == "edit":
        for name, (p, old, new) in EDIT_TOOLS.items():
            if name in offered:
                have = offered[name]["params"].get("properties", {})
                if "edits" in have:                 # pi
                    edits = [{"oldText": spec["old"], "newText": spec["new"]}]
                    return Call(name, {"path": path, "edits": edits})
                if have and p not in have:
                    p, old, new = ("file_path" if "file_path" in have else "path",
                                   "old_string" if "old_string" in have else "old_str",
                                   "new_string" if "new_string" in have else "new_str")
                return fit(request, name, {p: path, old: spec["old"], new: spec["new"]})
        minus = "".join(f"-{line}\n" for line in spec["old"].splitlines())
        plus = "".join(f"+{line}\n" for line in spec["new"].splitlines())
        update = f"*** Update File: {path}\n@@\n{minus}{plus}"
        if patch := patch_call(request, update):
            return patch
        return shell_call(
            request, f"apply_patch <<'PATCH'\n*** Begin Patch\n{update}*** End Patch\nPATCH")
    if kind == "read":
        for name, p in READ_TOOLS.items():
            if name in offered:
                have = offered[name]["params"].get("properties", {})
                return fit(request, name, {p if p in have or not have else "path": path})
        return shell_call(request, f"cat {shell_quote(path)}")
    if kind == "shell":
        return shell_call(request, spec["command"])
    raise RuleError(f"a call needs `name` or a known `do`, not {spec!r}")


def fit(request: Request, name: str, args: dict[str, Any]) -> Call:
    """Fills in string arguments the tool requires and the rule did not give."""
    params = request.tools[name]["params"]
    for key in params.get("required", []):
        kind = params.get("properties", {}).get(key, {}).get("type")
        if key not in args and kind == "string":
            args[key] = "mock"
    return Call(name, args)


def code_mode(request: Request) -> bool:
    """Whether the client offers codex's one tool that runs JavaScript."""
    tool = request.tools.get("exec", {})
    return tool.get("kind") == "custom" and "tools." in tool.get("about", "")


def patch_call(request: Request, hunk: str) -> Call | None:
    patch = f"*** Begin Patch\n{hunk}*** End Patch\n"
    if code_mode(request):
        return Call("exec", {}, f"text(await tools.apply_patch({json.dumps(patch)}));")
    tool = request.tools.get("apply_patch")
    if tool is None:
        return None
    if tool["kind"] == "custom":
        return Call("apply_patch", {}, patch)
    return Call("apply_patch", {"input": patch})


def shell_call(request: Request, command: str) -> Call:
    for name, key in SHELL_TOOLS.items():
        if name not in request.tools:
            continue
        kind = request.tools[name]["params"].get("properties", {}).get(key, {}).get("type")
        value: Any = ["bash", "-lc", command] if kind == "array" else command
        return fit(request, name, {key: value})
    if code_mode(request):
        return Call("exec", {}, f"text(await tools.exec_command({{cmd: {json.dumps(command)}}}));")
    return Call("shell", {"command": command})


def shell_quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


# --------------------------------------------------------------------------
# replies, in each API's form


def pieces(text: str, size: int = 0) -> list[str]:
    """Cuts a text into a few parts, as a stream would."""
    if not text:
        return []
    size = size or max(8, min(4096, len(text) // 3 + 1))
    return [text[i:i + size] for i in range(0, len(text), size)]


def tokens(reply: Reply) -> tuple[int, int, int]:
    usage = reply.usage
    return usage.get("input", 11), usage.get("output", 7), usage.get("cached", 0)


Event = tuple[str, Any]  # (event name or "", JSON data or a raw string)


def anthropic_message(request: Request, reply: Reply) -> dict[str, Any]:
    given, made, cached = tokens(reply)
    content: list[dict[str, Any]] = []
    if reply.thinking:
        content.append({"type": "thinking", "thinking": reply.thinking, "signature": "mock"})
    if reply.text or not reply.calls:
        content.append({"type": "text", "text": reply.text})
    for call in reply.calls:
        content.append({"type": "tool_use", "id": call.id, "name": call.name, "input": call.args})
    return {
        "id": f"msg_{uuid.uuid4().hex[:20]}", "type": "message", "role": "assistant",
        "model": request.model, "content": content,
        "stop_reason": reply.stop or ("tool_use" if reply.calls else "end_turn"),
        "stop_sequence": None,
        "usage": {"input_tokens": given, "output_tokens": made,
                  "cache_creation_input_tokens": 0, "cache_read_input_tokens": cached},
    }


def anthropic_events(request: Request, reply: Reply) -> Iterator[Event]:
    message = anthropic_message(request, reply)
    blocks, stop, usage = message["content"], message["stop_reason"], message["usage"]
    opening = {**message, "content": [], "stop_reason": None,
               "usage": {**usage, "output_tokens": 1}}
    yield "message_start", {"type": "message_start", "message": opening}
    yield "ping", {"type": "ping"}
    for index, block in enumerate(blocks):
        kind = block["type"]
        if kind == "text":
            empty: dict[str, Any] = {"type": "text", "text": ""}
            deltas = [{"type": "text_delta", "text": p} for p in pieces(block["text"])]
        elif kind == "thinking":
            empty = {"type": "thinking", "thinking": "", "signature": ""}
            deltas = [{"type": "thinking_delta", "thinking": p} for p in pieces(block["thinking"])]
            deltas.append({"type": "signature_delta", "signature": "mock"})
        else:
            empty = {**block, "input": {}}
            deltas = [{"type": "input_json_delta", "partial_json": p}
                      for p in pieces(json.dumps(block["input"]))]
        yield "content_block_start", {
            "type": "content_block_start", "index": index, "content_block": empty}
        for delta in deltas:
            yield "content_block_delta", {
                "type": "content_block_delta", "index": index, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", "index": index}
    yield "message_delta", {
        "type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None},
        "usage": usage}
    yield "message_stop", {"type": "message_stop"}


def responses_items(reply: Reply) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if reply.thinking:
        items.append({"type": "reasoning", "id": "rs_mock",
                      "summary": [{"type": "summary_text", "text": reply.thinking}]})
    if reply.text or not reply.calls:
        items.append({
            "type": "message", "id": f"msg_{uuid.uuid4().hex[:20]}", "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": reply.text, "annotations": []}]})
    for call in reply.calls:
        if call.text is not None:
            items.append({"type": "custom_tool_call", "id": f"ctc_{uuid.uuid4().hex[:12]}",
                          "status": "completed", "call_id": call.id, "name": call.name,
                          "input": call.text})
        else:
            items.append({"type": "function_call", "id": f"fc_{uuid.uuid4().hex[:12]}",
                          "status": "completed", "call_id": call.id, "name": call.name,
                          "arguments": json.dumps(call.args)})
    return items


def responses_object(request: Request, reply: Reply) -> dict[str, Any]:
    given, made, cached = tokens(reply)
    cut = reply.stop in ("max_tokens", "max_output_tokens", "length")
    return {
        "id": f"resp_{uuid.uuid4().hex[:20]}", "object": "response",
        "created_at": int(time.time()), "status": "incomplete" if cut else "completed",
        "model": request.model, "output": responses_items(reply), "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
        "usage": {"input_tokens": given, "input_tokens_details": {"cached_tokens": cached},
                  "output_tokens": made, "output_tokens_details": {"reasoning_tokens": 0},
                  "total_tokens": given + made},
    }


def responses_events(request: Request, reply: Reply) -> Iterator[Event]:
    whole = responses_object(request, reply)
    number = 0

    def event(kind: str, **data: Any) -> Event:
        nonlocal number
        number += 1
        return kind, {"type": kind, "sequence_number": number - 1, **data}

    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    yield event("response.created", response=begun)
    yield event("response.in_progress", response=begun)
    for index, item in enumerate(whole["output"]):
        where = {"output_index": index, "item_id": item["id"]}
        if item["type"] == "message":
            text = item["content"][0]["text"]
            part = {"type": "output_text", "text": "", "annotations": []}
            yield event("response.output_item.added", output_index=index,
                        item={**item, "status": "in_progress", "content": []})
            yield event("response.content_part.added", content_index=0, part=part, **where)
            for piece in pieces(text):
                yield event("response.output_text.delta", content_index=0, delta=piece, **where)
            yield event("response.output_text.done", content_index=0, text=text, **where)
            yield event("response.content_part.done", content_index=0,
                        part={**part, "text": text}, **where)
        elif item["type"] == "function_call":
            yield event("response.output_item.added", output_index=index,
                        item={**item, "status": "in_progress", "arguments": ""})
            for piece in pieces(item["arguments"]):
                yield event("response.function_call_arguments.delta", delta=piece, **where)
            yield event("response.function_call_arguments.done",
                        arguments=item["arguments"], **where)
        elif item["type"] == "custom_tool_call":
            yield event("response.output_item.added", output_index=index,
                        item={**item, "status": "in_progress", "input": ""})
            for piece in pieces(item["input"]):
                yield event("response.custom_tool_call_input.delta", delta=piece, **where)
            yield event("response.custom_tool_call_input.done", input=item["input"], **where)
        else:
            yield event("response.output_item.added", output_index=index,
                        item={**item, "summary": []})
        yield event("response.output_item.done", output_index=index, item=item)
    kind = "incomplete" if whole["status"] == "incomplete" else "completed"
    yield event(f"response.{kind}", response=whole)


def chat_usage(reply: Reply) -> dict[str, Any]:
    given, made, cached = tokens(reply)
    return {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made,
            "prompt_tokens_details": {"cached_tokens": cached}}


def chat_finish(reply: Reply) -> str:
    if reply.stop:
        return "length" if "max" in reply.stop else reply.stop
    return "tool_calls" if reply.calls else "stop"


def chat_object(request: Request, reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.calls:
        message["tool_calls"] = [
            {"id": c.id, "type": "function",
             "function": {"name": c.name, "arguments": json.dumps(c.args)}}
            for c in reply.calls]
    return {"id": f"chatcmpl-{uuid.uuid4().hex[:20]}", "object": "chat.completion",
            "created": int(time.time()), "model": request.model,
            "choices": [{"index": 0, "message": message, "finish_reason": chat_finish(reply)}],
            "usage": chat_usage(reply)}


def chat_events(request: Request, reply: Reply) -> Iterator[Event]:
    head = {"id": f"chatcmpl-{uuid.uuid4().hex[:20]}", "object": "chat.completion.chunk",
            "created": int(time.time()), "model": request.model}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> Event:
        return "", {**head, "choices": [
            {"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": ""})
    for piece in pieces(reply.text):
        yield chunk({"content": piece})
    for index, call in enumerate(reply.calls):
        yield chunk({"tool_calls": [{
            "index": index, "id": call.id, "type": "function",
            "function": {"name": call.name, "arguments": ""}}]})
        for piece in pieces(json.dumps(call.args)):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, chat_finish(reply))
    if (request.body.get("stream_options") or {}).get("include_usage"):
        yield "", {**head, "choices": [], "usage": chat_usage(reply)}
    yield "", "[DONE]"


def gemini_object(request: Request, reply: Reply, text: str | None = None,
                  last: bool = True) -> dict[str, Any]:
    given, made, cached = tokens(reply)
    parts: list[dict[str, Any]] = []
    if text is not None:
        parts.append({"text": text})
    else:
        if reply.thinking:
            parts.append({"text": reply.thinking, "thought": True})
        if reply.text or not reply.calls:
            parts.append({"text": reply.text})
    if last:
        parts += [{"functionCall": {"id": c.id, "name": c.name, "args": c.args}}
                  for c in reply.calls]
    candidate: dict[str, Any] = {"index": 0, "content": {"role": "model", "parts": parts}}
    if last:
        candidate["finishReason"] = "MAX_TOKENS" if "max" in reply.stop else "STOP"
    return {"candidates": [candidate], "modelVersion": request.model,
            "responseId": uuid.uuid4().hex[:16],
            "usageMetadata": {"promptTokenCount": given, "candidatesTokenCount": made,
                              "cachedContentTokenCount": cached,
                              "totalTokenCount": given + made}}


def gemini_events(request: Request, reply: Reply) -> Iterator[Event]:
    texts = pieces(reply.text)
    for text in texts[:-1]:
        yield "", gemini_object(request, reply, text, last=False)
    yield "", gemini_object(request, reply, texts[-1] if texts else None)


WHOLE = {"anthropic": anthropic_message, "responses": responses_object,
         "chat": chat_object, "gemini": gemini_object}
EVENTS = {"anthropic": anthropic_events, "responses": responses_events,
          "chat": chat_events, "gemini": gemini_events}

GEMINI_STATUS = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED",
                 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL",
                 503: "UNAVAILABLE"}
ANTHROPIC_TYPE = {400: "invalid_request_error", 401: "authentication_error",
                  403: "permission_error", 404: "not_found_error", 429: "rate_limit_error",
                  500: "api_error", 529: "overloaded_error"}


def error_body(api: str, status: int, message: str, kind: str) -> dict[str, Any]:
    if api == "anthropic":
        kind = kind or ANTHROPIC_TYPE.get(status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": message}}
    if api == "gemini":
        return {"error": {"code": status, "message": message,
                          "status": kind or GEMINI_STATUS.get(status, "UNKNOWN")}}
    kind = kind or {401: "invalid_request_error", 429: "rate_limit_exceeded"}.get(
        status, "server_error" if status >= 500 else "invalid_request_error")
    return {"error": {"message": message, "type": kind, "param": None, "code": kind}}


# --------------------------------------------------------------------------
# the server


class MockServer(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], rules: list[Rule], default_text: str,
                 log_path: Path | None, log_bodies: bool, base: Path) -> None:
        super().__init__(address, Handler)
        self.rules = rules
        self.default_text = default_text
        self.base = base
        self.log_bodies = log_bodies
        self.stopping = threading.Event()
        self.lock = threading.Lock()
        self.seen: list[dict[str, Any]] = []
        self.log_file = log_path.open("a", encoding="utf-8") if log_path else None

    def record(self, entry: dict[str, Any]) -> None:
        with self.lock:
            self.seen.append(entry)
            if self.log_file:
                self.log_file.write(json.dumps(entry, ensure_ascii=False) + "\n")
                self.log_file.flush()

    def choose(self, request: Request) -> Rule | None:
        with self.lock:
            for rule in self.rules:
                if rule.fits(request) and rule.take():
                    return rule
        return None

    def handle_error(self, request: Any, client_address: Any) -> None:
        error = sys.exc_info()[1]
        if not isinstance(error, (ConnectionError, TimeoutError)):
            print(f"mock_llm: {type(error).__name__}: {error}", file=sys.stderr)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = f"mock_llm/{VERSION}"
    server: MockServer

    def log_message(self, format: str, *args: Any) -> None:
        pass

    # -- plumbing

    def body_bytes(self) -> bytes:
        if "chunked" in (self.headers.get("transfer-encoding") or "").lower():
            parts = []
            while True:
                size = int(self.rfile.readline().split(b";")[0].strip() or b"0", 16)
                parts.append(self.rfile.read(size))
                self.rfile.readline()
                if size == 0:
                    break
            data = b"".join(parts)
        else:
            data = self.rfile.read(int(self.headers.get("content-length") or 0))
        coding = (self.headers.get("content-encoding") or "").lower()
        if coding == "gzip":
            return gzip.decompress(data)
        if coding == "deflate":
            return zlib.decompress(data)
        return data

    def send_json(self, value: Any, status: int = 200,
                  headers: dict[str, str] | None = None) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        for key, text in (headers or {}).items():
            self.send_header(key, str(text))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def wait(self, seconds: float) -> bool:
        """Sleeps; false when the client went away or the server is stopping."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if self.server.stopping.is_set():
                return False
            ready, _, _ = select.select([self.connection], [], [], min(left, 0.1))
            if ready:
                try:
                    if not self.connection.recv(1, socket.MSG_PEEK):
                        return False
                except OSError:
                    return False
                time.sleep(min(left, 0.05))  # a pipelined request: leave it be
        return True

    def hang_up(self) -> None:
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def send_chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    # -- routing

    def do_HEAD(self) -> None:
        self.send_json({})

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        if path == "/__mock/health":
            self.send_json({"ok": True})
        elif path == "/__mock/requests":
            with self.server.lock:
                seen = list(self.server.seen)
            self.send_json(seen)
        elif re.search(r"/models/?$", path):
            self.note("models", path, 200)
            entry = {"id": "mock-model", "object": "model", "type": "model",
                     "display_name": "Mock", "created_at": "2025-01-01T00:00:00Z",
                     "owned_by": "mock"}
            self.send_json({"object": "list", "data": [entry], "models": [],
                            "has_more": False, "first_id": "mock-model",
                            "last_id": "mock-model"})
        else:
            self.note("unknown", path, 404)
            self.send_json({"error": {"message": f"mock_llm has no GET {path}"}}, 404)

    def do_POST(self) -> None:
        url = urlsplit(self.path)
        try:
            raw = self.body_bytes()
        except (ValueError, OSError, zlib.error) as error:
            self.close_connection = True
            self.send_json({"error": {"message": f"unreadable body: {error}"}}, 400)
            return
        if url.path.startswith("/__mock/"):
            self.control(url.path, raw)
            return
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            self.note("unknown", url.path, 415)
            self.send_json({"error": {"message": "the body is not JSON"}}, 415)
            return
        request = self.parse(url.path, url.query, body)
        if request is None:
            return
        self.answer(request)

    def control(self, path: str, raw: bytes) -> None:
        server = self.server
        if path == "/__mock/reset":
            with server.lock:
                server.seen.clear()
                for rule in server.rules:
                    rule.seen = rule.used = 0
            self.send_json({"ok": True})
        elif path == "/__mock/rules":
            try:
                rules = load_rules(json.loads(raw), server.base)
            except (ValueError, RuleError) as error:
                self.send_json({"error": str(error)}, 400)
                return
            with server.lock:
                server.rules = rules
            self.send_json({"ok": True, "rules": len(rules)})
        else:
            self.send_json({"error": f"no control {path}"}, 404)

    def parse(self, path: str, query: str, body: dict[str, Any]) -> Request | None:
        """The model request in a POST; answers by itself what is not one."""
        if not isinstance(body, dict):
            self.send_json({"error": {"message": "the body is not an object"}}, 400)
            return None
        if path.endswith("/messages/count_tokens"):
            self.note("anthropic-count", path, 200)
            self.send_json({"input_tokens": 11})
        elif path.endswith("/messages"):
            return read_anthropic(body, path)
        elif path.endswith("/responses"):
            return read_responses(body, path)
        elif path.endswith("/chat/completions"):
            return read_chat(body, path)
        elif found := re.search(r"/models/([^/:]+):(\w+)$", path):
            model, verb = found.groups()
            if verb == "countTokens":
                self.note("gemini-count", path, 200)
                self.send_json({"totalTokens": 11})
            elif verb == "generateContent":
                return read_gemini(body, path, model, False)
            elif verb == "streamGenerateContent":
                sse = parse_qs(query).get("alt") == ["sse"]
                request = read_gemini(body, path, model, True)
                request.body["_sse"] = sse
                return request
            else:
                self.note("unknown", path, 404)
                self.send_json(error_body("gemini", 404, f"mock_llm has no {verb}", ""), 404)
        else:
            self.note("unknown", path, 404, body)
            self.send_json({"error": {"message": f"mock_llm has no POST {path}"}}, 404)
        return None

    def note(self, api: str, path: str, status: int, body: Any = None, **more: Any) -> None:
        entry: dict[str, Any] = {
            "time": round(time.time(), 3), "api": api, "path": path, "status": status,
            "agent": self.headers.get("user-agent", ""),
            "auth": [name for name in ("authorization", "x-api-key", "x-goog-api-key", "api-key")
                     if self.headers.get(name)],
            **more}
        if self.server.log_bodies and body is not None:
            entry["body"] = body
        self.server.record(entry)

    # -- answering

    def answer(self, request: Request) -> None:
        rule = self.server.choose(request)
        fault = (rule.spec.get("fault") if rule else None) or {}
        kind = fault.get("kind", "")
        status = int(fault.get("status", 500)) if kind == "status" else 200
        self.note(
            request.api, request.path, status, request.body, model=request.model,
            stream=request.stream, rule=rule.name if rule else None, fault=kind or None,
            rounds=request.rounds, tools=sorted(request.tools),
            prompt=request.prompt[-2000:], tool_result=request.tool_result[-2000:])
        if rule and not self.wait(float(rule.spec.get("delay_ms", 0)) / 1000):
            return self.hang_up()
        if kind == "status":
            message = fault.get("message", f"mock fault {status}")
            body = fault.get("body") or error_body(request.api, status, message, fault.get("type", ""))
            self.send_json(body, status, fault.get("headers"))
            return
        if kind == "close":
            return self.hang_up()
        if kind == "hang":
            self.wait(float(fault.get("seconds", 3600)))
            return self.hang_up()
        if kind == "garbage":
            data = b"<html>this is not the API you are looking for"
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
            return
        try:
            reply = rule.reply(request) if rule else Reply(self.server.default_text)
        except (RuleError, OSError, KeyError, TypeError) as error:
            print(f"mock_llm: {rule.name if rule else '-'}: {error!r}", file=sys.stderr)
            self.send_json(error_body(request.api, 400, f"bad mock rule: {error}", ""), 400)
            return
        if not request.stream:
            if kind in ("stall", "cut"):
                if kind == "stall":
                    self.wait(float(fault.get("seconds", 3600)))
                return self.hang_up()
            self.send_json(WHOLE[request.api](request, reply))
            return
        pause = float(rule.spec.get("chunk_delay_ms", 0)) / 1000 if rule else 0.0
        self.stream(request, reply, fault, pause)

    def stream(self, request: Request, reply: Reply, fault: dict[str, Any], pause: float) -> None:
        kind = fault.get("kind", "")
        sse = request.body.get("_sse", True)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if sse else "application/json")
        self.send_header("cache-control", "no-cache")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        if not sse:  # Gemini without alt=sse: one JSON array
            self.send_chunk(json.dumps([d for _, d in EVENTS[request.api](request, reply)]).encode())
            self.wfile.write(b"0\r\n\r\n")
            return
        for sent, (name, data) in enumerate(EVENTS[request.api](request, reply)):
            if kind in ("stall", "cut") and sent == int(fault.get("after", 2)):
                if kind == "stall":
                    self.wait(float(fault.get("seconds", 3600)))
                return self.hang_up()
            if kind == "event" and sent == int(fault.get("after", 2)):
                error = error_body(request.api, int(fault.get("status", 503)),
                                   fault.get("message", "mock fault"), fault.get("type", ""))
                name = {"anthropic": "error", "responses": "response.failed"}.get(request.api, "")
                if name == "response.failed":
                    response = {**responses_object(request, reply), "status": "failed", "output": [],
                                "usage": None, "error": error["error"]}
                    error = {"type": name, "sequence_number": sent, "response": response}
                line = f"event: {name}\n" if name else ""
                self.send_chunk(f"{line}data: {json.dumps(error)}\n\n".encode())
                break
            text = data if isinstance(data, str) else json.dumps(data)
            line = f"event: {name}\n" if name else ""
            self.send_chunk(f"{line}data: {text}\n\n".encode())
            if pause and not self.wait(pause):
                return self.hang_up()
        if kind in ("stall", "cut"):  # the reply was shorter than `after`
            if kind == "stall":
                self.wait(float(fault.get("seconds", 3600)))
            return self.hang_up()
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()


def main(argv: list[str] | None = None) -> int:
    summary, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        prog="mock_llm.py", description=summary, epilog=rest,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", default="127.0.0.1",
                        help="address to listen on; must be loopback (default %(default)s)")
    parser.add_argument("--port", type=int, default=0, help="port (default: any free one)")
    parser.add_argument("--rules", type=Path, help="the JSON file of rules")
    parser.add_argument("--default-text", default="mock reply",
                        help="the answer when no rule fits (default %(default)r)")
    parser.add_argument("--log", type=Path, help="append one JSON line per request to this file")
    parser.add_argument("--log-bodies", action="store_true",
                        help="put whole request bodies in the log")
    parser.add_argument("--port-file", type=Path, help="write the port to this file when ready")
    parser.add_argument("--version", action="version", version=f"%(prog)s {VERSION}")
    options = parser.parse_args(argv)

    if options.host not in ("127.0.0.1", "::1", "localhost"):
        parser.error("--host must be a loopback address")
    rules: list[Rule] = []
    base = Path.cwd()
    if options.rules:
        base = options.rules.resolve().parent
        try:
            rules = load_rules(json.loads(options.rules.read_text(encoding="utf-8")), base)
        except (OSError, ValueError) as error:
            parser.error(f"{options.rules}: {error}")
    try:
        server = MockServer((options.host, options.port), rules, options.default_text,
                            options.log, options.log_bodies, base)
    except OSError as error:
        parser.error(f"cannot listen on {options.host}:{options.port}: {error}")

    def stop(_signal: int, _frame: Any) -> None:
        server.stopping.set()
        threading.Thread(target=server.shutdown, daemon=True).start()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    port = server.server_address[1]
    if options.port_file:
        partial = options.port_file.with_name(options.port_file.name + f".{os.getpid()}")
        partial.write_text(f"{port}\n", encoding="utf-8")
        partial.replace(options.port_file)
    print(f"MOCK_LLM_URL=http://{options.host}:{port}", flush=True)
    server.serve_forever(poll_interval=0.1)
    server.server_close()
    if server.log_file:
        server.log_file.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
