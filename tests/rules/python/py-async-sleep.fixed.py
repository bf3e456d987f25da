import asyncio
import time


async def poll(queue):
    while True:
        await asyncio.sleep(1)  # fixed
        if queue:
            await asyncio.sleep(0.1)  # fixed


async def wait():
    await asyncio.sleep(5)  # fixed


async def safe():
    await asyncio.sleep(1)  # ok: asynchronous

    def later():
        time.sleep(1)  # ok: an ordinary function

    return later


def plain():
    time.sleep(1)  # ok: no event loop
