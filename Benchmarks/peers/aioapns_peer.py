"""Sends pushes to the simulator with aioapns, and prints one line of JSON: pushes per second, CPU per push.

usage: aioapns_peer.py PORT ANCHOR KEY KEY_ID TEAM_ID TOPIC TOKEN COUNT WINDOW
"""

import asyncio
import json
import logging
import resource
import ssl
import sys
import time

import aioapns.connection
from aioapns import APNs, NotificationRequest, PushType

port, anchor, key, key_id, team_id, topic, token, count, window = sys.argv[1:]
logging.disable(logging.CRITICAL)
aioapns.connection.APNsProductionClientProtocol.APNS_SERVER = "localhost"
aioapns.connection.APNsTLSClientProtocol.APNS_PORT = int(port)


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


async def main():
    with open(key) as file:
        text = file.read()
    context = ssl.create_default_context(cafile=anchor)
    context.set_alpn_protocols(["h2"])
    client = APNs(
        key=text, key_id=key_id, team_id=team_id, topic=topic, use_sandbox=False, max_connections=1,
        ssl_context=context)
    body = {"aps": {"alert": "x" * 160}}

    async def send(number):
        request = NotificationRequest(device_token=token, message=body, push_type=PushType.ALERT, priority=10)
        return (await client.send_notification(request)).is_successful

    assert await send(0), "the first push was refused"
    start, cpu = time.monotonic(), cpu_seconds()
    accepted = 0
    numbers = iter(range(int(count)))

    async def work():
        nonlocal accepted
        for number in numbers:
            is_accepted = await send(number)
            accepted += is_accepted

    await asyncio.gather(*[work() for _ in range(int(window))])
    elapsed = time.monotonic() - start
    assert accepted == int(count), f"only {accepted} were accepted"
    print(json.dumps({
        "pushesPerSecond": accepted / elapsed,
        "cpuMicroseconds": (cpu_seconds() - cpu) * 1e6 / accepted,
    }))


asyncio.run(main())
