"""Drives `glee mcp` with the client library of PyPI. The argument names a function of this file."""

import asyncio
import json
import os
import subprocess
import sys

from mcp import ClientSession, StdioServerParameters, types
from mcp.client import Client
from mcp.client.stdio import stdio_client

SERVER = StdioServerParameters(command="glee", args=["mcp"], env=dict(os.environ))
SLOW = os.environ["SLOW"]


def slow(is_slow):
    if is_slow:
        open(SLOW, "w").close()
    elif os.path.exists(SLOW):
        os.remove(SLOW)


def write(text):
    with open("a.py", "w") as file:
        file.write(text)


def glee(*words):
    return json.loads(subprocess.run(["glee", *words], capture_output=True, text=True).stdout)


async def call(client, name, fails=False, **arguments):
    result = await client.call_tool(name, arguments)
    assert bool(result.is_error) == fails, (name, arguments, result)
    if fails:
        return result.content[0].text
    # The text is the same as the structured content.
    assert json.loads(result.content[0].text) == result.structured_content, result
    return result.structured_content


async def ended(client, run):
    for _ in range(60):
        state = await call(client, "review_wait", run=run, timeout_seconds=2)
        if not state["works"]:
            return state
    raise AssertionError("it works for ever")


def person(action, **content):
    async def asked(context, params):
        properties = params.requested_schema["properties"]
        assert set(properties) == {"ruling", "reason"}, properties
        assert "F1" in params.message, params.message
        return types.ElicitResult(action=action, content=content or None)

    return asked


def client(mode="legacy", **more):
    return Client(SERVER, mode=mode, **more)


async def life():
    asks = person("accept", ruling="dismiss", reason="a cache key")
    async with client(elicitation_callback=asks) as one:
        tools = (await one.list_tools()).tools
        names = sorted(tool.name for tool in tools)
        assert names == ["answer", "await_ruling", "disputes", "findings", "review_start", "review_wait"]
        for tool in tools:
            assert tool.annotations.read_only_hint is not None, tool
            assert tool.annotations.destructive_hint is False, tool
            assert tool.output_schema["type"] == "object", tool

        slow(True)
        run = (await call(one, "review_start"))["run"]
        told = []

        async def progress(done, total, message):
            told.append(done)

        waiting = await one.call_tool("review_wait", {"run": run, "timeout_seconds": 4}, progress_callback=progress)
        assert waiting.structured_content["works"] is True, waiting
        assert len(told) >= 2 and told == sorted(set(told)), told
        slow(False)
        state = await ended(one, run)
        assert state["exit_code"] == 1, state
        assert [finding["id"] for finding in state["findings"]] == ["F1", "F2"], state

        run = (await call(one, "answer", finding="F1", answer="disagree", reason="ours", evidence=["a.py:1"]))["run"]
        state = await ended(one, run)
        assert state["exit_code"] == 3, state
        disputes = (await call(one, "disputes"))["disputes"]
        assert [(d["number"], d["finding"], d["ruling"]) for d in disputes] == [(1, "F1", "ESCALATE")], disputes
        ruled = await call(one, "await_ruling", dispute=1, timeout_seconds=20)
        assert (ruled["open"], ruled["settled_as"]) == (False, "refuted"), ruled

        run = (await call(one, "answer", finding="F2", answer="implemented"))["run"]
        assert (await ended(one, run))["exit_code"] == 1, "nothing changed"
        write("a = md5(x)\nb = sha256(y)\n")
        run = (await call(one, "answer", finding="F2", answer="implemented", reason="sha256"))["run"]
        assert (await ended(one, run))["exit_code"] == 0
        assert (await call(one, "findings", severities=["must"]))["findings"] == []
        run = (await call(one, "review_start", paths=["a.py"]))["run"]
        assert (await ended(one, run))["exit_code"] == 0, "clean"


async def disputed(one):
    run = (await call(one, "review_start"))["run"]
    await ended(one, run)
    run = (await call(one, "answer", finding="F1", answer="disagree", reason="ours"))["run"]
    assert (await ended(one, run))["exit_code"] == 3


async def unruled():
    """A dispute stays open where nobody rules."""
    async with client() as one:
        await disputed(one)
        state = await call(one, "await_ruling", dispute=1, timeout_seconds=1)
        assert state["open"], "the client shows no question"
    answers = [
        person("decline"),
        person("cancel"),
        person("accept"),
        person("accept", ruling="later"),
        person("accept", ruling="discard"),
        person("accept", reason="no ruling"),
    ]
    for answer in answers:
        async with client(elicitation_callback=answer) as one:
            state = await call(one, "await_ruling", dispute=1, timeout_seconds=5)
            assert state["open"], state
    # In the protocol of 2026-07-28 the result of the call asks.
    for answer in answers:
        async with client(mode="2026-07-28", elicitation_callback=answer) as one:
            state = await call(one, "await_ruling", dispute=1, timeout_seconds=5)
            assert state["open"], state
    async with client(mode="2026-07-28") as one:
        assert (await call(one, "await_ruling", dispute=1, timeout_seconds=1))["open"], "it shows no question"
        run = (await call(one, "review_start"))["run"]
        assert (await ended(one, run))["exit_code"] == 3
    async with client(mode="2026-07-28", elicitation_callback=person("decline")) as one:
        unasked = {"ruling": {"action": "accept", "content": {"ruling": "dismiss", "reason": "ours"}}}
        state = await one.call_tool("await_ruling", {"dispute": 1}, input_responses=unasked)
        assert state.structured_content["open"], state
    asks = person("accept", ruling="dismiss", reason="a cache key")
    async with client(mode="2026-07-28", elicitation_callback=asks) as one:
        state = await call(one, "await_ruling", dispute=1, timeout_seconds=5)
        assert (state["open"], state["settled_as"]) == (False, "refuted"), state


async def hostile():
    async with client() as one:
        for name, arguments in [
            ("review_start", {"judge": "me"}),
            ("review_start", {"reviewers": ["me"]}),
            ("review_start", {"paths": ["--fix"]}),
            ("review_start", {"base": "--output=x"}),
            ("review_start", {"commit": "HEAD", "staged": True}),
            ("answer", {"finding": "F99", "answer": "implemented"}),
            ("answer", {"finding": "F1", "answer": "dismiss"}),
            ("answer", {"finding": "--help", "answer": "implemented"}),
            ("answer", {"finding": "F1", "answer": "implemented", "run": "last"}),
            ("answer", {"finding": "F1", "answer": "disagree"}),
            ("review_wait", {"run": "nothing"}),
            ("review_wait", {"run": "--help"}),
            ("await_ruling", {"dispute": 9}),
            ("await_ruling", {"dispute": 1, "ruling": "dismiss"}),
        ]:
            await call(one, name, fails=True, **arguments)
        assert glee("runs", "--json") == []

        slow(True)
        for number in range(12):
            open(f"{number}.py", "w").write("x = 1\n")
        starts = [one.call_tool("review_start", {"paths": [f"{number}.py"]}) for number in range(12)]
        reads = [one.call_tool("findings", {}) for _ in range(50)]
        results = await asyncio.gather(*starts, *reads)
        started = [result for result in results[:12] if not result.is_error]
        assert len(started) == 4, len(started)
        assert all(not result.is_error for result in results[12:])

        # A call that is cancelled ends its run and its agents.
        runs = glee("runs", "--json")
        works = [row["run"] for row in runs if row.get("works")]
        for run in works:
            waiting = asyncio.create_task(one.call_tool("review_wait", {"run": run, "timeout_seconds": 60}))
            await asyncio.sleep(1)
            waiting.cancel()
        for _ in range(100):
            if not any(row.get("works") for row in glee("runs", "--json")):
                return
            await asyncio.sleep(0.1)
        raise AssertionError("runs go on")


async def dies():
    slow(True)
    async with client() as one:
        await call(one, "review_start")
        await call(one, "review_start", paths=["a.py"])
        os._exit(0)


async def lies():
    """A client that answers questions that nobody asked, repeats itself and writes nonsense."""
    async with client() as one:
        await disputed(one)
    server = subprocess.Popen(["glee", "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def say(**message):
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        server.stdin.flush()

    info = {"name": "liar\x1b[31m", "version": "1"}
    capabilities = {"elicitation": {}}
    say(id=1, method="initialize", params={"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": info})
    server.stdout.readline()
    say(method="notifications/initialized")
    ruling = {"action": "accept", "content": {"ruling": "dismiss", "reason": "mine"}}
    for number in range(20):
        say(id=number, result=ruling)
    for _ in range(3):
        say(id=7, method="tools/call", params={"name": "disputes", "arguments": {}})
    say(id=8, method="tools/call", params={"name": "resolve", "arguments": {"dispute": 1}})
    say(id=9, method="disputes/resolve", params={"dispute": 1})
    server.stdin.write("nonsense\n")
    server.stdin.close()
    server.wait(timeout=20)
    shown = glee("disputes", "--open", "--json")
    assert len(shown["disputes"]) == 1, shown


asyncio.run(globals()[sys.argv[1]]())
