"""A worker in Python: aio-pika takes events from RabbitMQ, sqlite3 or asyncpg finds devices, aioapns sends the pushes.

usage: worker.py JOB.json      (Benchmarks/peers/README.md says what is in it)
"""

import asyncio
import hashlib
import json
import logging
import signal
import sqlite3
import ssl
import sys

import aio_pika
import aioapns.connection
import asyncpg
import orjson
import uvloop
from aioapns import APNs, NotificationRequest, PushType

SUBSCRIBERS = """
    SELECT d.token FROM identity n
    JOIN dataset_subscription u ON u.identity = n.id
    JOIN dataset_name s ON s.id = u.dataset_name
    JOIN device d ON d.id = u.device
    JOIN identity_pool p ON p.id = d.identity_pool
    WHERE n.name = {} AND s.name = {} AND p.name = {} AND d.device_id <> {}
"""


class SQLite:
    """The devices in a file; a query takes microseconds, so it runs where it is asked."""

    def __init__(self, path):
        self._connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self._query = SUBSCRIBERS.format("?", "?", "?", "?")

    async def tokens(self, *names):
        return [row[0] for row in self._connection.execute(self._query, names)]


class PostgreSQL:
    """The devices in PostgreSQL; asyncpg prepares the statement once for each connection."""

    def __init__(self, pool):
        self._pool = pool
        self._query = SUBSCRIBERS.format("$1", "$2", "$3", "$4")

    async def tokens(self, *names):
        return [row[0] for row in await self._pool.fetch(self._query, *names)]


class Acknowledgements:
    """Acknowledges all messages up to the newest one before which all have ended, a hundred at a time."""

    def __init__(self):
        self._open = {}
        self._done = None
        self._count = 0

    def begin(self, message):
        self._open[message.delivery_tag] = None

    async def end(self, message):
        self._open[message.delivery_tag] = message
        while self._open and (first := next(iter(self._open.values()))) is not None:
            del self._open[first.delivery_tag]
            self._done, self._count = first, self._count + 1
        if self._done is not None and (self._count >= 100 or not self._open):
            done, self._done, self._count = self._done, None, 0
            await done.ack(multiple=True)


class Worker:
    """The job of one event: who subscribed, one push to each, and the acknowledgement."""

    def __init__(self, registry, client):
        self._registry = registry
        self._client = client
        self._acknowledgements = Acknowledgements()
        self._room = asyncio.Semaphore(1_000)

    async def handle(self, message):
        self._acknowledgements.begin(message)
        change = orjson.loads(message.body)["data"]
        pool, identity, dataset = change["identityPoolId"], change["identityId"], change["datasetName"]
        tokens = await self._registry.tokens(identity, dataset, pool, change.get("deviceId", ""))
        body = {"aps": {"content-available": 1}, "data": {
            "source": "cognito-sync", "identityPoolId": pool, "identityId": identity, "datasetName": dataset,
            "syncCount": str(change["syncCount"])}}
        digest = hashlib.sha256(f"{pool}\n{identity}\n{dataset}".encode()).hexdigest()[:32]
        await asyncio.gather(*[self._push(bytes(token).hex(), body, "dataset-" + digest) for token in tokens])
        await self._acknowledgements.end(message)

    async def _push(self, token, body, collapse):
        async with self._room:
            request = NotificationRequest(
                device_token=token, message=body, push_type=PushType.BACKGROUND, priority=5, collapse_key=collapse)
            result = await self._client.send_notification(request)
        if not result.is_successful:
            sys.exit(f"worker.py: a push was answered {result.status} {result.description}")


def make_client(apns):
    """aioapns knows Apple's address only."""
    aioapns.connection.APNsProductionClientProtocol.APNS_SERVER = "localhost"
    aioapns.connection.APNsTLSClientProtocol.APNS_PORT = apns["port"]
    context = ssl.create_default_context(cafile=apns["ca"])
    context.set_alpn_protocols(["h2"])
    with open(apns["key"], encoding="ascii") as file:
        key = file.read()
    return APNs(
        key=key, key_id=apns["keyId"], team_id=apns["teamId"], topic=apns["topic"], use_sandbox=False, max_connections=1,
        ssl_context=context)


async def main():
    logging.disable(logging.CRITICAL)
    with open(sys.argv[1], encoding="utf-8") as file:
        job = json.load(file)
    kind, _, address = job["registry"].partition(":")
    if kind == "sqlite":
        registry = SQLite(address)
    else:
        registry = PostgreSQL(await asyncpg.create_pool(job["registry"], min_size=4, max_size=4))
    worker = Worker(registry, make_client(job["apns"]))
    connection = await aio_pika.connect(job["broker"])
    channel = await connection.channel()
    await channel.set_qos(prefetch_count=job["prefetch"])
    queue = await channel.get_queue(job["queue"], ensure=False)
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    await queue.consume(worker.handle)
    await stopped.wait()
    await connection.close()


uvloop.run(main())
