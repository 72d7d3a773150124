"""What the demo registers and publishes, and what must come of it, all drawn from one seed."""

import json
import random
import uuid
from collections import defaultdict

APP = "chat"
BUNDLE_ID = "com.example.chat"
POOL = "us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c"
SOURCE = "/demo"
LISTENER = "listener"
# How users who have ordered something are called, and the serials of their pushes.
CUSTOMER = "customer-"
ORDER = "order-"
CUSTOMERS_MAXIMUM = 200
PREDICATE = 'artist = "Mei Chen" AND price <= 20'


class Event:
    """One message: what pika sends, and whom it must reach."""

    def __init__(self, identifier, properties, body, routing_key="demo"):
        self.identifier = identifier
        self.properties = properties
        self.body = body
        self.routing_key = routing_key


class Device:
    """One device, its subscriptions, and what the simulator is told about its token."""

    def __init__(self, number, identity, token):
        self.identifier = f"device-{number:05}"
        self.identity = identity
        self.token = token
        # Every device follows the notes; the first of each identity follows the settings too.
        self.datasets = ("notes", "settings") if number % 2 == 0 else ("notes",)
        self.fault = None
        # Whose device it is: the user who listens to songs has three.
        self.user = None

    def registration(self):
        """The line of NDJSON that `apus device import` reads."""
        return {
            "deviceId": self.identifier,
            "platform": "APNS",
            "token": self.token,
            "app": APP,
            "identityPoolId": POOL,
            "identityId": self.identity,
            "datasets": list(self.datasets),
            **({"userId": self.user} if self.user else {}),
        }


class Android:
    """An Android device, and what the simulator of FCM is told about it."""

    def __init__(self, number, randomness):
        self.identifier = f"android-{number:05}"
        self.token = f"{self.identifier}:APA91b{randomness.randbytes(48).hex()}"
        self.fault = None
        self.user = None

    def registration(self):
        return {
            "deviceId": self.identifier, "platform": "GCM", "token": self.token, "app": APP,
            **({"userId": self.user} if self.user else {}),
        }


class Kindle:
    """A Kindle, what the simulator of ADM is told about it, and the registration ID that it has after a renewal."""

    PREFIX = "amzn1.adm-registration.v3."

    def __init__(self, number, randomness):
        self.identifier = f"kindle-{number:05}"
        self.token = self.PREFIX + randomness.randbytes(48).hex()
        self.fault = {0: "dead", 1: "throttled", 2: "renewed"}.get(number % 10)
        self.successor = self.PREFIX + randomness.randbytes(48).hex() if self.fault == "renewed" else None

    def registration(self):
        return {"deviceId": self.identifier, "platform": "ADM", "token": self.token, "app": APP}


class Browser:
    """A browser's subscription, which the simulator of Web Push makes; its record has the name and not the endpoint."""

    SERVICES = ("plain", "fcm", "mozilla", "apple", "wns")

    def __init__(self, number):
        self.identifier = f"{self.SERVICES[number % len(self.SERVICES)]}-{number // len(self.SERVICES):07}"
        self.token = self.identifier
        self.fault = None


class Workload:
    """Devices and events, with what must come of them."""

    def __init__(self, seed, percent, suits_previous_release=False):
        self._random = random.Random(seed)
        self._suits_previous_release = suits_previous_release
        self.identities = [f"us-east-1:{self._uuid()}" for _ in range(max(50, 5_000 * percent // 100))]
        self.devices = [
            Device(number, self.identities[number // 2], self._random.randbytes(32).hex())
            for number in range(2 * len(self.identities))
        ]
        self.androids = [Android(number, self._random) for number in range(max(50, 1_000 * percent // 100))]
        self.kindles = [Kindle(number, self._random) for number in range(max(30, 200 * percent // 100))]
        self.browsers = [Browser(number) for number in range(max(20, 200 * percent // 100))]
        if suits_previous_release:
            self.androids, self.kindles, self.browsers = [], [], []
        self._others = self.androids + self.kindles + self.browsers
        for number, android in enumerate(self.androids):
            android.fault = {0: "dead", 1: "unavailable"}.get(number % 50)
        self.device_by_token = {device.token: device for device in self.devices + self._others}
        # The first token by the one that a renewed device has later.
        self.token_of_successor = {kindle.successor: kindle.token for kindle in self.kindles if kindle.successor}
        self._devices_by_identity = defaultdict(list)
        for device in self.devices:
            self._devices_by_identity[device.identity].append(device)
        self._draw_faults()
        self.listeners = [device for device in self.devices if not device.fault][:3]
        for device in self.listeners:
            device.user = LISTENER
        # Users of the outbox, with a device each; the name ends with the place in the list, from 1.
        sound = [[device for device in kind if not device.fault and not device.user][:CUSTOMERS_MAXIMUM // 2]
                 for kind in (self.devices, self.androids)]
        self.customers = sound[0] + sound[1]
        for number, device in enumerate(self.customers, 1):
            device.user = f"{CUSTOMER}{number}"

        # (token, dataset) -> sync counts of the changes that others made; the newest has to arrive.
        self.addressed = defaultdict(set)
        # (identity, dataset) -> sync counts that were published at all; nothing else may arrive.
        self.sync_counts = defaultdict(set)
        # (token, serial) of each requested push; all have to arrive.
        self.requested = set()
        # How many records were published, and how many of them the subscription asks for.
        self.songs_count = 0
        self.songs_matching = 0
        # Index of the event by what can be seen of it in a push.
        self.index_of_change = {}
        self.index_of_request = {}

        changes = self._changes(max(200, 20_000 * percent // 100))
        requests = self._requests(max(20, 1_000 * percent // 100))
        songs = self._songs(max(20, 300 * percent // 100))
        broken = self._broken()
        # The changes keep their order, for sync counts grow; everything else comes in between.
        self.events = self._mixed(changes, requests + songs + broken)
        self.broken_count = len(broken)
        self.sound_count = len(self.events) - len(broken)
        self._index()

    def forget_events(self):
        """Leaves the devices alone: nothing is published, and no push has to come."""
        self.events, self.broken_count = [], 0
        for book in (self.addressed, self.sync_counts, self.requested):
            book.clear()

    # Faults

    def _draw_faults(self):
        share = max(1, len(self.devices) // 100)
        chosen = self._random.sample(self.devices, 2 * share + share // 2 + share // 2 + 2)
        kinds = ["dead"] * share + ["throttled"] * share + ["unavailable"] * (share // 2 + 1) + ["failing"] * (
            share // 2 + 1)
        for device, kind in zip(chosen, kinds):
            device.fault = kind

    # Events

    def _changes(self, count):
        last = defaultdict(int)
        changes = []
        for number in range(count):
            identity = self._random.choice(self.identities)
            dataset = self._random.choice(("notes", "notes", "settings"))
            last[identity, dataset] += 1
            sync_count = last[identity, dataset]
            origin = self._random.choice(self._devices_by_identity[identity] + [None])
            changes.append(self._change(f"change-{number}", identity, dataset, sync_count, origin))
        # One event comes twice, as from a publisher that saw no confirm.
        changes.insert(count // 2 + 1, changes[count // 2])
        return changes

    def _change(self, identifier, identity, dataset, sync_count, origin):
        self.sync_counts[identity, dataset].add(sync_count)
        for device in self._devices_by_identity[identity]:
            if device is not origin and dataset in device.datasets:
                self.addressed[device.token, dataset].add(sync_count)
        data = {
            "identityPoolId": POOL,
            "identityId": identity,
            "datasetName": dataset,
            "syncCount": sync_count,
        }
        if origin:
            data["deviceId"] = origin.identifier
        event = self._event(identifier, "com.example.dataset.changed", data)
        event.change = (identity, dataset, sync_count)
        return event

    def _requests(self, count):
        requests = []
        for number in range(count):
            devices = self._random.sample(self.devices, self._random.choice((1, 1, 1, 3)))
            if number % 2:
                target = {"deviceTokens": [device.token for device in devices]}
            else:
                # One event for devices of every push service.
                devices += self._random.sample(self._others, min(4, len(self._others)))
                target = {"deviceIds": [device.identifier for device in devices]}
            serial = f"request-{number}"
            data = {
                "app": APP,
                # What stands under "data" goes to the app as it is.
                "notification": {"title": "Demo", "body": f"Number {number}", "data": {"serial": serial}},
                "options": {"pushType": "alert", "priority": 10},
                **target,
            }
            if not self._suits_previous_release:
                data["campaign"] = f"demo-{number % 3}"
            for device in devices:
                self.requested.add((device.token, serial))
            event = self._event(serial, "com.example.push.requested", data)
            event.request = serial
            requests.append(event)
        return requests

    def _songs(self, count):
        """Records, of which those that the listener's subscription asks for have to be told of."""
        events = []
        for number in range(count):
            artist = self._random.choice(("Mei Chen", "mei chen", "Ray Kumar"))
            price = self._random.randint(1, 40)
            serial = f"song-{number}"
            fields = {"artist": artist, "price": price, "title": f"Song {number}"}
            data = {"recordType": "Song", "recordName": serial, "fields": fields}
            origin = self._random.choice(self.listeners + [None])
            if origin:
                data["deviceId"] = origin.identifier
            if artist.lower() == "mei chen" and price <= 20:
                self.songs_matching += 1
                for device in self.listeners:
                    if device is not origin:
                        self.requested.add((device.token, serial))
            event = self._event(serial, "com.example.record.created", data)
            event.request = serial
            events.append(event)
        self.songs_count = count
        return events

    def _broken(self):
        """Twenty events that nobody can act on, of ten kinds; each has to end as a dead letter."""
        change = {"identityPoolId": POOL, "identityId": self.identities[0], "datasetName": "notes", "syncCount": 1}
        request = {"app": APP, "deviceTokens": ["00" * 32], "notification": {"body": "x"}}
        kinds = [
            ("dataset.changed", {key: value for key, value in change.items() if key != "datasetName"}),
            ("dataset.changed", {**change, "syncCount": "seven"}),
            ("dataset.changed", {**change, "syncCount": 2**63}),
            ("dataset.exploded", change),
            ("push.requested", {**request, "app": "nobody"}),
            ("push.requested", {**request, "deviceTokens": ["abc"]}),
        ]
        structured = {"content_type": "application/cloudevents+json"}
        events = []
        for round_number in range(2):
            for kind_number, (kind, data) in enumerate(kinds):
                events.append(self._event(f"broken-{round_number}-{kind_number}", f"com.example.{kind}", data))
            bodies = [
                b'{"specversion": "1.0", "id": "cut off',
                b'{"specversion": "1.0", "id": "\xff\xfe"}',
                b"[" * 200 + b"]" * 200,
                b"",
            ]
            for number, body in enumerate(bodies, len(kinds)):
                events.append(Event(None, {**structured, "message_id": f"broken-{round_number}-{number}"}, body))
        return events

    def _event(self, identifier, kind, data):
        envelope = {"specversion": "1.0", "id": identifier, "source": SOURCE, "type": kind, "data": data}
        body = json.dumps(envelope, separators=(",", ":")).encode()
        return Event(identifier, {"content_type": "application/cloudevents+json", "message_id": identifier}, body)

    def _mixed(self, ordered, others):
        self._random.shuffle(others)
        places = sorted(self._random.sample(range(len(ordered)), len(others)))
        mixed = list(ordered)
        for place, event in zip(reversed(places), others):
            mixed.insert(place, event)
        return mixed

    def _index(self):
        for index, event in enumerate(self.events):
            if hasattr(event, "change"):
                self.index_of_change.setdefault(event.change, index)
            elif hasattr(event, "request"):
                self.index_of_request[event.request] = index

    def _uuid(self):
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))
