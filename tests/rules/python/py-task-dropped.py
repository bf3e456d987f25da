import asyncio


async def start(loop, work):
    asyncio.create_task(work())  # expect
    asyncio.ensure_future(work())  # expect
    loop.create_task(work())  # expect


async def safe(group, work, tasks):
    task = asyncio.create_task(work())  # ok: kept
    tasks.add(asyncio.create_task(work()))  # ok: kept
    await asyncio.create_task(work())  # ok: awaited
    group.create_task(work())  # ok: the group holds it
    return task
