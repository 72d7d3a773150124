"""Sends messages to browsers with pywebpush over HTTP/1.1, with one VAPID token and connections that stay.

usage: sender.py JOB.json      (Benchmarks/peers/README.md says what is in it)
"""

import asyncio
import json
import ssl
import sys
import time

import aiohttp
from py_vapid import Vapid02
from pywebpush import WebPusher


def authorization(job):
    """A token lasts for hours, so it is signed once."""
    with open(job["key"], "rb") as file:
        vapid = Vapid02.from_pem(file.read())
    return vapid.sign({"sub": job["subject"], "aud": job["url"], "exp": int(time.time()) + 43_200})


async def send(pushers, text, headers, connections, count):
    """Each connection has one request at a time."""
    numbers = iter(range(count))

    async def sender():
        for number in numbers:
            pusher = pushers[number % len(pushers)]
            response = await pusher.send_async(text, headers, 86_400)
            if response.status != 201:
                sys.exit(f"sender.py: a message was answered {response.status} {await response.text()}")

    await asyncio.gather(*[sender() for _ in range(connections)])


async def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        job = json.load(file)
    headers = authorization(job) | {"urgency": "high"}
    context = ssl.create_default_context(cafile=job["ca"])
    connector = aiohttp.TCPConnector(limit=job["connections"], ssl=context)
    async with aiohttp.ClientSession(connector=connector) as session:
        pushers = [WebPusher(subscription, aiohttp_session=session) for subscription in job["subscriptions"]]
        await send(pushers, job["text"], headers, job["connections"], job["warmUp"])
        start, spent = time.perf_counter(), time.process_time()
        await send(pushers, job["text"], headers, job["connections"], job["count"])
        json.dump({"seconds": time.perf_counter() - start, "cpuSeconds": time.process_time() - spent}, sys.stdout)


asyncio.run(main())
