"""The well-behaved clients, one of each dialect."""

import http.client
import json
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from book import ATTEMPTS_MAXIMUM, Book, Client, Refused, Span, contains
from service import ACCESS_KEY, APP, POOL, Target

# How many operations one makes in a second, far below what one credential may.
OPERATIONS_PER_SECOND = 8
EVENT_OPERATIONS_PER_SECOND = 4
COURIERS = 4
COURIER_SOURCE = "127.0.1.4"
COURIER_OPERATIONS_PER_SECOND = 2
PROBES_PER_SECOND = 4
# A poll that ends with nothing sooner than this was not held.
HELD_SECONDS = 1

Over = Callable[[], bool]


class Rhythm:
    """Operations at even distances, without haste after one that took long."""

    def __init__(self, book: Book, per_second: float):
        self._interval = book.interval_seconds = 1 / per_second
        self._next = time.monotonic()

    def wait(self) -> None:
        now = time.monotonic()
        time.sleep(max(0.0, self._next - now))
        self._next = max(self._next, now) + self._interval


def bearer(target: Target, name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {target.tokens[name]}", "Content-Type": "application/json"}


def random_token() -> str:
    return uuid.uuid4().hex + uuid.uuid4().hex


# The native API


def native(target: Target, over: Over, book: Book) -> None:
    client = Client(target.host, "127.0.1.1", book, bearer(target, "native"))
    rhythm = Rhythm(book, OPERATIONS_PER_SECOND)
    number = 0
    while not over():
        number += 1
        native_device(client, book, rhythm, f"soak-{number}", token := random_token(), removes=number % 3 == 0)
        book.secrets.append(token)
        # The next device comes on another connection: who is new has to be served, too.
        client.close()


def native_device(client: Client, book: Book, rhythm: Rhythm, name: str, token: str, removes: bool) -> None:
    """The life of one device and its subscription."""
    user = f"user-{name}"
    device, subscription = f"/v1/devices/{name}", f"/v1/devices/{name}/subscriptions/songs"
    device_body = json.dumps({
        "platform": "APNS", "app": APP, "token": token, "userId": user, "identityPoolId": POOL,
        "identityId": f"us-east-1:{uuid.uuid4()}", "datasets": ["notes"]})
    subscription_body = json.dumps({"recordType": "Song", "predicate": f'artist = "{name}" AND price < 20'})

    def put(path: str, body: str, shown: dict) -> None:
        rhythm.wait()
        with book.operation(f"PUT {path}", path):
            client.expect((200, 201), "PUT", path, body)
            book.confirmed[path] = shown

    def get(path: str, shown: dict) -> None:
        rhythm.wait()
        with book.operation(f"GET {path}"):
            if path.partition("?")[0] in ("/v1/devices", "/v1/subscriptions") or path in book.confirmed:
                found = json.loads(client.expect((200,), "GET", path))
                if not contains(found, shown):
                    raise Refused(f"{path} does not show what was saved: {str(found)[:300]}")

    put(device, device_body, {"deviceId": name, "userId": user, "datasets": ["notes"]})
    put(subscription, subscription_body, {"subscriptionId": "songs", "recordType": "Song"})
    get(device, {"deviceId": name})
    get(subscription, {"subscriptionId": "songs"})
    get(f"/v1/devices?userId={user}", {"devices": [{"deviceId": name}]} if device in book.confirmed else {})
    get(f"/v1/subscriptions?deviceId={name}",
        {"subscriptions": [{"subscriptionId": "songs"}]} if subscription in book.confirmed else {})
    for path in (subscription, device) if removes else ():
        rhythm.wait()
        with book.operation(f"DELETE {path}", path):
            # 404 comes if the answer to an attempt before was lost.
            client.expect((200, 204, 404), "DELETE", path)
            book.confirmed[path] = None


# Amazon Cognito Sync, by boto3


def cognito(target: Target, over: Over, book: Book) -> None:
    sync = boto3_client(target)
    rhythm = Rhythm(book, OPERATIONS_PER_SECOND)
    number = 0
    while not over():
        number += 1
        cognito_identity(sync, book, rhythm, number)


def boto3_client(target: Target):
    """boto3's own client; urllib3 is told which address to call from, which botocore has no option for."""
    import boto3
    import botocore.config
    import urllib3.util.connection

    connect = urllib3.util.connection.create_connection
    urllib3.util.connection.create_connection = lambda address, timeout=None, source_address=None, **options: connect(
        address, timeout, source_address=("127.0.1.2", 0), **options)
    config = botocore.config.Config(
        retries={"max_attempts": 8, "mode": "standard"}, connect_timeout=20, read_timeout=20)
    return boto3.client(
        "cognito-sync", endpoint_url=f"http://{target.host}", region_name="us-east-1",
        aws_access_key_id=ACCESS_KEY, aws_secret_access_key=target.access_secret, config=config)


def cognito_identity(sync, book: Book, rhythm: Rhythm, number: int) -> None:
    """One identity registers, subscribes to two datasets and leaves one."""
    identity, token = f"us-east-1:{uuid.uuid4()}", random_token()
    book.secrets.append(token)
    device = None
    path = ""

    def call(name: str, method, shown: dict | None = None, **members):
        rhythm.wait()
        with book.operation(name, path):
            answer = method(IdentityPoolId=POOL, **members)
            book.postponed(answer["ResponseMetadata"].get("RetryAttempts", 0))
            if path and shown:
                book.confirmed[path] = shown
            return answer

    if registered := call("RegisterDevice", sync.register_device, IdentityId=identity, Platform="APNS", Token=token):
        device = registered["DeviceId"]
        path = f"/v1/devices/{device}"
        book.confirmed[path] = {"identityId": identity, "datasets": []}
    if device:
        members = {"IdentityId": identity, "DeviceId": device}
        notes, both = {"identityId": identity, "datasets": ["notes"]}, {"datasets": ["notes", "songs"]}
        call("SubscribeToDataset", sync.subscribe_to_dataset, notes, DatasetName="notes", **members)
        call("SubscribeToDataset", sync.subscribe_to_dataset, both, DatasetName="songs", **members)
        call("UnsubscribeFromDataset", sync.unsubscribe_from_dataset, notes, DatasetName="songs", **members)
    if number % 10 == 0:
        path = ""
        call("GetIdentityPoolConfiguration", sync.get_identity_pool_configuration)


# CloudKit Web Services


def cloudkit(target: Target, over: Over, book: Book) -> None:
    client = Client(target.host, "127.0.1.3", book, {"Content-Type": "application/json"})
    rhythm = Rhythm(book, OPERATIONS_PER_SECOND)
    number = 0
    while not over():
        number += 1
        cloudkit_subscription(client, book, rhythm, target.tokens["cloudkit"], f"user-{number // 10}", f"art-{number}")
        if number % 2:
            client.close()


def cloudkit_subscription(client: Client, book: Book, rhythm: Rhythm, token: str, user: str, name: str) -> None:
    """The life of one subscription of a user."""
    path = f"/v1/apps/{APP}/users/{user}/subscriptions/{name}"

    def call(operation: str, body: dict) -> list[dict]:
        """One answer for each entry of the request, which is sent again while one of them asks for that."""
        for _ in range(ATTEMPTS_MAXIMUM):
            content = client.expect(
                (200,), "POST",
                f"/database/1/iCloud.com.example.{APP}/production/public/subscriptions/{operation}"
                f"?ckAPIToken={token}&ckWebAuthToken={user}", json.dumps(body))
            answers = json.loads(content)["subscriptions"]
            pauses = [answer["retryAfter"] for answer in answers if answer.get("serverErrorCode") == "TRY_AGAIN_LATER"]
            if not pauses:
                return answers
            book.postponed()
            time.sleep(max(pauses))
        raise Refused(f"{operation} was put off {ATTEMPTS_MAXIMUM} times")

    def modify(operation: str, allowed_error: str, shown: dict | None, **members) -> None:
        rhythm.wait()
        with book.operation(f"{operation} {name}", path):
            attempts = book.reconnected
            answer = call("modify", {"operations": [
                {"operationType": operation, "subscription": {"subscriptionID": name, **members}}]})[0]
            error = answer.get("serverErrorCode")
            # The answer to an attempt before may have been lost.
            if error and not (error == allowed_error and book.reconnected > attempts):
                raise Refused(f"{operation} was answered with {answer}")
            book.confirmed[path] = shown

    def query(artist: str) -> dict:
        return {"subscriptionType": "query", "firesOn": ["create"], "query": {"recordType": "Artwork", "filterBy": [
            {"comparator": "EQUALS", "fieldName": "artist", "fieldValue": {"value": artist, "type": "STRING"}}]}}

    shown = {"subscriptionId": name, "recordType": "Artwork"}
    modify("create", "EXISTS", shown, **query("mei"))
    modify("update", "", {**shown, "predicate": 'artist = "chen"'}, **query("chen"))
    for operation, body in (("lookup", {"subscriptions": [{"subscriptionID": name}]}), ("list", {})):
        rhythm.wait()
        with book.operation(operation):
            found = call(operation, body)
            if path in book.confirmed and not contains(found, [{"subscriptionID": name}]):
                raise Refused(f"{operation} does not show {name}: {str(found)[:300]}")
    if name.endswith(("3", "7")):
        modify("delete", "NOT_FOUND", None)


# Clients that fetch their notifications


def courier(target: Target, over: Over, book: Book) -> None:
    # Since when each polls.
    waiting: dict[str, float] = {}
    threads = [
        threading.Thread(target=one_courier, args=(target, over, book, waiting, f"courier-{number}"), daemon=True)
        for number in range(COURIERS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    book.held += sum(time.monotonic() - began > HELD_SECONDS for began in waiting.values())


def one_courier(target: Target, over: Over, book: Book, waiting: dict[str, float], user: str) -> None:
    """Asks for its token again and again, as a client that starts does, while another thread polls its URL."""
    client = Client(target.host, COURIER_SOURCE, book, {"Content-Type": "application/json"})
    rhythm = Rhythm(book, COURIER_OPERATIONS_PER_SECOND)
    mailbox: Mailbox | None = None
    while not over():
        rhythm.wait()
        with book.operation(f"tokens/create of {user}"):
            opened = open_mailbox(client, target, user)
            if mailbox and opened != mailbox:
                raise Refused("the same client got another URL")
            if not mailbox:
                mailbox = opened
                mailbox.enter(book)
                threading.Thread(target=poll, args=(target, over, book, waiting, mailbox.path), daemon=True).start()


@dataclass(frozen=True)
class Mailbox:
    """Where a user's client fetches its notifications, and its token in hexadecimal digits."""

    user: str
    path: str
    token: str

    def enter(self, book: Book) -> None:
        """Notes what has to be there at the end, and what may not stand in the log."""
        book.confirmed[f"/v1/devices?userId={self.user}"] = {"devices": [{"platform": "WEB", "userId": self.user}]}
        book.secrets += [self.token, self.path.rpartition("/")[2]]


def open_mailbox(client: Client, target: Target, user: str) -> Mailbox:
    """Asks for a token, as a client that starts does."""
    path = f"/database/1/iCloud.com.example.{APP}/production/tokens/create"
    query = f"?ckAPIToken={target.tokens['courier']}&ckWebAuthToken={user}"
    body = json.dumps({"apnsEnvironment": "production", "clientId": "browser"})
    answer = json.loads(client.expect((200,), "POST", path + query, body))
    return Mailbox(user, answer["webcourierURL"].removeprefix(f"http://{target.host}"), answer["apnsToken"])


def poll(target: Target, over: Over, book: Book, waiting: dict[str, float], path: str) -> None:
    """Waits for notifications; the time from a poll that is put off to one that is held counts as an operation."""
    refused_since: float | None = None
    while not over():
        began = waiting[path] = time.monotonic()
        status, _ = poll_once(target.host, path, COURIER_SOURCE)
        del waiting[path]
        seconds = time.monotonic() - began
        if over():
            return
        if status == 200 or status == 204 and seconds > HELD_SECONDS:
            book.held += 1
            if refused_since:
                book.spans.append(Span(refused_since, began))
            refused_since = None
            continue
        # A poll that is refused late was held until then.
        refused_since = refused_since or (began if status == 0 else time.monotonic())
        if status == 503:
            book.held += seconds > HELD_SECONDS
            book.postponed()
        elif status == 0:
            book.reconnected += 1
        else:
            with book.operation("poll"):
                raise Refused(f"a poll was answered with {status} after {seconds:.1f} s")
        time.sleep(1)


def poll_once(host: str, path: str, source: str) -> tuple[int, bytes]:
    """Status and body of one long poll on a connection of its own; 0 if it was not answered."""
    connection = http.client.HTTPConnection(host, timeout=90, source_address=(source, 0))
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()
    except (OSError, http.client.HTTPException):
        return 0, b""
    finally:
        connection.close()


# A backend that publishes events


def events(target: Target, over: Over, book: Book) -> None:
    """One push at a time, and batches of ten, each event with an id of its own."""
    client = Client(target.host, "127.0.1.8", book, bearer(target, "shop"))
    batches = Client(
        target.host, "127.0.1.8", book,
        bearer(target, "shop") | {"Content-Type": "application/cloudevents-batch+json"})
    rhythm = Rhythm(book, EVENT_OPERATIONS_PER_SECOND)
    push = {"app": APP, "userIds": ["mei"], "notification": {"title": "On its way"}}
    number = 0
    while not over():
        number += 1
        names = [f"soak-{number}"] if number % 2 else [f"soak-{number}-{index}" for index in range(10)]
        whole = [
            {"specversion": "1.0", "id": name, "source": "soak", "type": "push.requested", "data": push}
            for name in names
        ]
        rhythm.wait()
        with book.operation(f"events {names[0]}"):
            if number % 2:
                client.expect((202,), "POST", "/v1/events", json.dumps(push), {"Idempotency-Key": names[0]})
            else:
                batches.expect((202,), "POST", "/v1/events", json.dumps(whole))
            book.events.update(names)


# The operator's probes


def health(target: Target, over: Over, book: Book) -> None:
    client = Client(target.admin_host, "127.0.1.5", book)
    rhythm = Rhythm(book, PROBES_PER_SECOND)
    while not over():
        for path in ("/readyz", "/metrics"):
            rhythm.wait()
            with book.operation(path):
                client.expect((200,), "GET", path)


CLIENTS: dict[str, Callable[[Target, Over, Book], None]] = {
    "native": native, "cognito": cognito, "cloudkit": cloudkit, "courier": courier, "events": events, "health": health,
}


def audit(target: Target, books: list[Book]) -> list[str]:
    """Compares what was confirmed with what the API shows now: what is missing, or there though it was deleted."""
    client = Client(target.host, "127.0.1.6", Book("audit"), bearer(target, "auditor"))
    rhythm = Rhythm(Book("audit"), 80)
    read = partial(client.request, "GET")
    problems = []
    for book in books:
        for path, wanted in book.confirmed.items():
            rhythm.wait()
            try:
                status, content = read(path)
            except Refused as error:
                problems.append(f"{book.dialect}: {error}")
                continue
            if wanted is None and status != 404:
                problems.append(f"{book.dialect}: {path} was deleted and is answered with {status}")
            elif wanted is not None and (status != 200 or not contains(json.loads(content), wanted)):
                problems.append(
                    f"{book.dialect}: {path} was confirmed and is answered with {status}: {content[:300]!r}")
    return problems
