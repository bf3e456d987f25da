import asyncio
import subprocess

import requests


async def fetch(url):
    requests.get(url, timeout=5)  # expect
    subprocess.run(["ls"])  # expect
    os.system("ls")  # expect


async def safe(url, loop):
    await asyncio.to_thread(requests.get, url)  # ok: in a thread
    await asyncio.create_subprocess_exec("ls")  # ok: asynchronous

    def later():
        return requests.get(url, timeout=5)  # ok: an ordinary function

    return later


def plain(url):
    requests.get(url, timeout=5)  # ok: no event loop
