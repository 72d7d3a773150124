"""The hostile loads. Each is bounded in connections and rate, so that they take places, memory and patience away, and
not the processors from everything else on the machine."""

import asyncio
import hashlib
import json
import os
import ssl
from base64 import urlsafe_b64encode

from attacker import Attacker, Load, Pace
from service import ACCESS_KEY, APP, POOL, TENANT_APP
from smuggling import smuggle

MEGABYTE = 1 << 20
SIXTY_KILOBYTES = 60 << 10
# About as many texts as one `IN` may have, and as long.
LIST_COUNT, TEXT_BYTES = 60, 1_000
# How many users hoard, and how many subscriptions their quotas take at most: 1 MiB each.
HOARDERS = 4
HOARD_COUNT_MAXIMUM = HOARDERS * MEGABYTE // (LIST_COUNT * TEXT_BYTES)


# Those who take places


async def slow_head(attacker: Attacker) -> None:
    """A byte each five seconds, until the server has enough of it."""
    await attacker.connect()
    for byte in b"GET /v1/devices HTTP/1.1\r\nX-Slow: " + b"a" * 1_000:
        await attacker.send(bytes([byte]))
        try:
            async with asyncio.timeout(5):
                await attacker.answer()
                break
        except TimeoutError:
            continue
    attacker.close()
    await asyncio.sleep(2)


async def slow_body(attacker: Attacker) -> None:
    """A byte each two seconds, of a body that a good token announces."""
    token = attacker.target.tokens["tenant"]
    await attacker.connect()
    await attacker.send(
        f"PUT /v1/devices/slow HTTP/1.1\r\nHost: {attacker.target.host}\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Length: {SIXTY_KILOBYTES}\r\n\r\n".encode() + b" " * (SIXTY_KILOBYTES - 1_000))
    attacker.findings.outcomes["begun"] += 1
    for _ in range(900):
        await attacker.send(b" ")
        try:
            async with asyncio.timeout(2):
                await attacker.answer()
                break
        except TimeoutError:
            continue
    attacker.close()


async def forged_poll(attacker: Attacker) -> None:
    """A secret as `tokens/create` made them when anybody could make one."""
    secret = os.urandom(24)
    secret += hashlib.sha256(b"apus courier token\n" + secret).digest()[:8]
    text = urlsafe_b64encode(secret).rstrip(b"=").decode()
    await attacker.ask(attacker.request("GET", f"/courier/{text}"))


async def rival_poll(attacker: Attacker) -> None:
    """Polls of one client's URL that end each other."""
    if "path" not in attacker.notes:
        await attacker.connect()
        body = json.dumps({"apnsEnvironment": "production", "clientId": "rival"}).encode()
        query = f"?ckAPIToken={attacker.target.tokens['tenant-courier']}&ckWebAuthToken=rival"
        await attacker.send(attacker.request(
            "POST", f"/database/1/iCloud.com.example.{TENANT_APP}/production/tokens/create{query}", "", body))
        head = await attacker.reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        url = json.loads(await attacker.reader.readexactly(length)).get("webcourierURL")
        if not url:
            raise ConnectionError("no URL yet")
        attacker.notes["path"] = url.removeprefix(f"http://{attacker.target.host}")
    await attacker.ask(attacker.request("GET", attacker.notes["path"]))


async def connect_and_close(attacker: Attacker) -> None:
    await attacker.connect()
    attacker.findings.outcomes["connected"] += 1
    attacker.close()


# Those who take the registry's time


def subscription_path(user: str, name: str) -> str:
    return f"/v1/apps/{TENANT_APP}/users/{user}/subscriptions/{name}"


def tenant(attacker: Attacker, name: str = "tenant") -> str:
    return f"Authorization: Bearer {attacker.target.tokens[name]}\r\n"


async def put_predicate(attacker: Attacker, predicate: str) -> None:
    body = json.dumps({"recordType": "Song", "predicate": predicate}).encode()
    path = subscription_path("mallory", f"p{attacker.turns % 10}")
    await attacker.ask(attacker.request("PUT", path, tenant(attacker), body))


async def huge_predicate(attacker: Attacker) -> None:
    """518 KB, far above what is documented."""
    await put_predicate(attacker, " OR ".join(f'field{number} = "{number}"' for number in range(22_000))[:518_000])


def predicates_below_the_limit() -> list[str]:
    """Just below 64 KiB: deep, long, and both."""
    room = 63 << 10
    deep = room // 2 - 10
    values = ", ".join(str(number) for number in range(10_500))
    return [
        "(" * deep + "a = 1" + ")" * deep,
        "NOT " * (room // 4 - 4) + "a = 1",
        f"a IN {{{values}}}"[:room],
        " AND ".join(f"(a{number} = 1 OR b{number} = 2)" for number in range(2_200))[:room].rpartition(" AND ")[0],
        " OR ".join(f'a = "{number}"' for number in range(4_800)),
        'a = "' + "\u0390" * (room // 2 - 10) + '"',
    ]


PREDICATES = predicates_below_the_limit()


async def long_predicate(attacker: Attacker) -> None:
    await put_predicate(attacker, PREDICATES[attacker.turns % len(PREDICATES)])


async def hoard(attacker: Attacker) -> None:
    """Subscriptions of 60 KiB, as many as the quota takes."""
    if attacker.notes.get("refusals", 0) > 5:
        await asyncio.sleep(5)
    text = ", ".join(f'"{number:04}{"x" * (TEXT_BYTES - 4)}"' for number in range(LIST_COUNT))
    body = json.dumps({"recordType": "Song", "predicate": f"a IN {{{text}}}"}).encode()
    user = f"hoarder-{attacker.turns % HOARDERS}"
    path = subscription_path(user, f"h{attacker.number}-{attacker.turns}")
    status = await attacker.ask(attacker.request("PUT", path, tenant(attacker), body))
    attacker.notes["refusals"] = attacker.notes.get("refusals", 0) + (status >= 400)
    if attacker.findings.outcomes[200] > HOARD_COUNT_MAXIMUM:
        attacker.breach(f"{HOARD_COUNT_MAXIMUM} subscriptions of {HOARDERS} users were taken, and no quota refused one")


async def slow_list(attacker: Attacker) -> None:
    """Asks for all that was hoarded, and reads a kilobyte a second."""
    await attacker.connect(receive_buffer_bytes=4_096)
    await attacker.send(
        attacker.request("GET", "/v1/subscriptions?limit=1000", tenant(attacker, "tenant-reader")))
    async with asyncio.timeout(60):
        head = await attacker.reader.readuntil(b"\r\n\r\n")
    attacker.note(int(head.split(b" ", 2)[1]))
    for _ in range(90):
        if not await attacker.reader.read(1_024):
            break
        await asyncio.sleep(1)
    attacker.close()


# Those who publish


async def publish(attacker: Attacker, content_type: str, body: bytes, token: str = "tenant-shop") -> None:
    fields = f"{tenant(attacker, token)}Content-Type: {content_type}\r\n"
    await attacker.ask(attacker.request("POST", "/v1/events", fields, body))


def push(app: str) -> bytes:
    return json.dumps({"app": app, "userIds": ["mallory"], "notification": {"title": "a"}}).encode()


async def wrong_events(attacker: Attacker) -> None:
    """As many as a batch may have, each wrong in its last member."""
    data = {"app": TENANT_APP, "userIds": ["mallory"], "notification": {"titel": "a"}}
    event = {"specversion": "1.0", "source": "s", "type": "push.requested", "data": data}
    batch = [event | {"id": str(number)} for number in range(1_000)]
    await publish(attacker, "application/cloudevents-batch+json", json.dumps(batch).encode(), "tenant-batches")


async def events_of_others(attacker: Attacker) -> None:
    await publish(attacker, "application/json", push(APP))


async def flood_of_events(attacker: Attacker) -> None:
    """More right ones than the rate of a token lets through."""
    await publish(attacker, "application/json", push(TENANT_APP))


# Those who take memory


async def big_body(attacker: Attacker) -> None:
    """A body of 1 MiB of which the last byte is kept back, of somebody who has shown nothing that is good."""
    cloudkit = f"/database/1/iCloud.com.example.{APP}/production/public/subscriptions/modify?ckWebAuthToken=a"
    signature = (
        f"Authorization: AWS4-HMAC-SHA256 Credential=AKIDNOBODY/20260101/us-east-1/cognito-sync/aws4_request, "
        f"SignedHeaders=host;x-amz-date, Signature={'ab' * 32}\r\nX-Amz-Date: 20260101T000000Z\r\n")
    method, path, fields = [
        ("PUT", "/v1/devices/big", ""),
        ("POST", f"/identitypools/{POOL}/identity/us-east-1:00/device", signature),
        ("POST", cloudkit, ""),
    ][attacker.turns % 3]
    await attacker.connect()
    await attacker.send(f"{method} {path} HTTP/1.1\r\nHost: {attacker.target.host}\r\n{fields}"
                        f"Content-Length: {MEGABYTE}\r\n\r\n".encode())
    # The rest of an answer that came early is still to be read when the server has closed.
    sending = asyncio.create_task(send_slowly(attacker, MEGABYTE - 1))
    try:
        await attacker.answer()
    finally:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        attacker.close()


async def send_slowly(attacker: Attacker, count: int) -> None:
    piece = b" " * (32 << 10)
    pace = Pace(16)
    while count and attacker.writer:
        await pace.turn()
        attacker.writer.write(piece[:count])
        await attacker.writer.drain()
        count -= min(count, len(piece))


async def pipelined(attacker: Attacker) -> None:
    """Requests one after the other, whose answers nobody reads."""
    await attacker.connect(receive_buffer_bytes=4_096)
    request = f"GET /openapi.json HTTP/1.1\r\nHost: {attacker.target.host}\r\n\r\n".encode()
    attacker.writer.write(request * 2_000)
    await asyncio.sleep(10)
    attacker.findings.outcomes["left unread"] += 1
    attacker.writer.transport.abort()
    attacker.close()


# Those who guess


async def wrong_token(attacker: Attacker) -> None:
    fields = f"Authorization: Bearer apus_{urlsafe_b64encode(os.urandom(32)).decode().rstrip('=')}\r\n"
    await attacker.ask(attacker.request("GET", "/v1/devices", fields))


async def wrong_signature(attacker: Attacker) -> None:
    fields = (
        f"Authorization: AWS4-HMAC-SHA256 Credential={ACCESS_KEY}/20260101/us-east-1/cognito-sync/aws4_request, "
        f"SignedHeaders=host;x-amz-date, Signature={os.urandom(32).hex()}\r\nX-Amz-Date: 20260101T000000Z\r\n")
    await attacker.ask(attacker.request("GET", f"/identitypools/{POOL}/configuration", fields))


# Those who do not speak HTTP


async def random_bytes(attacker: Attacker) -> None:
    await answer_to(attacker, os.urandom(1 + attacker.turns * 37 % 4_000) + b"\r\n\r\n")


async def client_hello(attacker: Attacker) -> None:
    """TLS on a port that has none."""
    outgoing = ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost")
    try:
        client.do_handshake()
    except ssl.SSLWantReadError:
        pass
    await answer_to(attacker, outgoing.read())


async def answer_to(attacker: Attacker, data: bytes) -> None:
    await attacker.connect()
    await attacker.send(data)
    try:
        await attacker.answer()
    finally:
        attacker.close()


# At most 256 connections of one address are let in by the default, so most loads have several addresses.
HEADS = [
    Load("slow heads, one address", 700, 100, range(1, 2), slow_head, is_forbidden=True),
    Load("slow heads, many addresses", 1_000, 150, range(2, 12), slow_head, is_forbidden=True),
]
POLLS = [
    Load("forged polls", 1_100, 200, range(12, 18), forged_poll, is_forbidden=True),
    Load("rival polls", 2, 100, range(18, 19), rival_poll),
]
BODIES = [
    Load("slow bodies", 150, 30, range(19, 21), slow_body, is_forbidden=True),
    Load("unauthenticated bodies", 400, 40, range(21, 24), big_body, is_forbidden=True),
]
PROBES = [
    Load("connect and close", 4, 50, range(24, 25), connect_and_close),
    Load("random bytes", 4, 20, range(25, 26), random_bytes, is_forbidden=True),
    Load("TLS on the plain port", 2, 10, range(26, 27), client_hello, is_forbidden=True),
    Load("smuggling", 4, 20, range(27, 28), smuggle, is_forbidden=True),
    Load("wrong tokens", 4, 150, range(28, 29), wrong_token, is_forbidden=True),
    Load("wrong signatures", 4, 150, range(29, 30), wrong_signature, is_forbidden=True),
]
TENANT = [
    Load("predicates of 518 KB", 2, 2, range(30, 31), huge_predicate, is_forbidden=True),
    Load("predicates below 64 KiB", 2, 4, range(31, 32), long_predicate),
    Load("hoarded subscriptions", 4, 6, range(32, 33), hoard),
    Load("lists read slowly", 8, 2, range(33, 34), slow_list),
    Load("pipelined and unread", 20, 4, range(34, 35), pipelined),
]
EVENTS = [
    Load("batches of wrong events", 2, 2, range(35, 36), wrong_events, is_forbidden=True),
    Load("events of another app", 4, 20, range(36, 37), events_of_others, is_forbidden=True),
    Load("floods of events", 40, 150, range(37, 38), flood_of_events),
]
# Each in a process of its own, so that none of them waits for another.
LOADS = {"heads": HEADS, "polls": POLLS, "bodies": BODIES, "probes": PROBES, "tenant": TENANT, "publishing": EVENTS}
