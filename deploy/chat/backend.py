"""The backend of the chat: keeps each user's messages as a dataset, and publishes what changed.

usage: backend.py PORT RABBITMQ-URL REGISTRY-URL REGISTRY-TOKEN
"""

import http.server
import json
import sys
import threading
import urllib.error
import urllib.request
import uuid

import pika

POOL = "us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c"
# Who is signed in: the access token of each app, its user, and the user's identity.
SESSIONS = {"session-mei": ("mei", "us-east-1:0a"), "session-ben": ("ben", "us-east-1:0b")}
DATASET = "chat"


class Store:
    """A dataset for each user: records by their keys, and a count that goes up with each change."""

    def __init__(self):
        self.lock = threading.Lock()
        self.datasets = {user: {"syncCount": 0, "records": {}} for user, _ in SESSIONS.values()}

    def changes(self, user, since):
        with self.lock:
            dataset = self.datasets[user]
            records = [record for record in dataset["records"].values() if record["syncCount"] > since]
            return {"records": records, "syncCount": dataset["syncCount"], "exists": dataset["syncCount"] > 0}

    def put(self, user, records):
        """Stores all records or none: one that is not new must not have changed since. None means a conflict."""
        with self.lock:
            dataset = self.datasets[user]
            known = {key: record["syncCount"] for key, record in dataset["records"].items()}
            if any(known.get(record["key"], 0) != record["syncCount"] for record in records):
                return None
            dataset["syncCount"] += 1
            stored = [{"key": r["key"], "value": r.get("value"), "syncCount": dataset["syncCount"]} for r in records]
            dataset["records"].update({record["key"]: record for record in stored})
            return stored


def publish(url, user_identity, sync_count, device_id=None):
    """Publishes that a dataset changed, and waits for RabbitMQ's confirm."""
    data = {"identityPoolId": POOL, "identityId": user_identity, "datasetName": DATASET, "syncCount": sync_count}
    if device_id:
        data["deviceId"] = device_id
    event = {"specversion": "1.0", "id": str(uuid.uuid4()), "source": "/chat", "type": "com.example.dataset.changed",
             "data": data}
    connection = pika.BlockingConnection(pika.URLParameters(url))
    channel = connection.channel()
    channel.confirm_delivery()
    properties = pika.BasicProperties(content_type="application/cloudevents+json", delivery_mode=2)
    channel.basic_publish("apus.changes", f"dataset.changed.{user_identity}", json.dumps(event), properties, mandatory=True)
    connection.close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle_request(self):
        user, identity = SESSIONS.get(self.headers.get("Authorization", "").removeprefix("Bearer "), (None, None))
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"null")
        if user is None:
            self.answer(401, {"status": 401, "code": "unauthenticated", "detail": "sign in first"})
        elif self.path.startswith("/v1/devices/") and self.path.count("/") == 3:
            self.relay_registration(body, user, identity)
        elif self.path.startswith("/changes?since="):
            self.answer(200, STORE.changes(user, int(self.path.partition("=")[2])))
        elif self.path == "/records":
            self.store(user, body)
        else:
            self.answer(404, {"status": 404, "code": "not-found", "detail": "there is no such path"})

    do_GET = do_PUT = do_POST = handle_request

    def relay_registration(self, body, user, identity):
        """Passes a registration on with the registry's token, as the user who is signed in and nobody else."""
        body |= {"app": "chat", "userId": user, "identityPoolId": POOL, "identityId": identity, "datasets": [DATASET]}
        request = urllib.request.Request(REGISTRY_URL + self.path, json.dumps(body).encode(), method=self.command, headers={
            "Authorization": f"Bearer {REGISTRY_TOKEN}", "Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request) as answer:
                self.answer(answer.status, json.load(answer))
        except urllib.error.HTTPError as error:
            self.answer(error.code, json.load(error), error.headers.get("Retry-After"))

    def store(self, user, body):
        stored = STORE.put(user, body["records"])
        if stored is None:
            self.answer(409, {})
            return
        # The sender's other devices hear of it, and so does everybody else in the chat.
        for other, identity in SESSIONS.values():
            if other == user:
                publish(RABBITMQ_URL, identity, stored[0]["syncCount"], body["deviceId"])
            else:
                copies = STORE.put(other, [{**record, "syncCount": 0} for record in stored])
                if copies:
                    publish(RABBITMQ_URL, identity, copies[0]["syncCount"])
        self.answer(200, {"records": stored})

    def answer(self, status, body, retry_after=None):
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        if retry_after:
            self.send_header("Retry-After", retry_after)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    PORT, RABBITMQ_URL, REGISTRY_URL, REGISTRY_TOKEN = sys.argv[1:]
    STORE = Store()
    http.server.ThreadingHTTPServer(("127.0.0.1", int(PORT)), Handler).serve_forever()
