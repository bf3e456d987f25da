import asyncio
import time


async def poll(queue):
    while True:
        time.sleep(1)  # expect
        if queue:
            time.sleep(0.1)  # expect


async def wait():
    time.sleep(5)  # expect


async def safe():
    await asyncio.sleep(1)  # ok: asynchronous

    def later():
        time.sleep(1)  # ok: an ordinary function

    return later


def plain():
    time.sleep(1)  # ok: no event loop
