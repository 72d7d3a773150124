"""A load whose rate goes up and down, so that the charts of the page have something to show."""

import math
import threading
import time

from environment import PEOPLE_COUNT, POOL

RATE, SWING, PERIOD_SECONDS = 60, 0.6, 45
MAIL_EVERY, CHANGES_EVERY = 5, 3


class Load(threading.Thread):
    """Publishes until it is stopped; `error` says why it ended before."""

    def __init__(self, environment):
        super().__init__(name="load", daemon=True)
        self._environment = environment
        self._over = threading.Event()
        self.error = None
        self.published = 0

    def run(self):
        try:
            with self._environment.publisher() as publisher:
                while not self._over.is_set():
                    self._publish(publisher)
                    rate = RATE * (1 + SWING * math.sin(2 * math.pi * time.monotonic() / PERIOD_SECONDS))
                    self._over.wait(1 / rate)
        except Exception as error:  # the main thread tells it
            self.error = error

    def stop(self):
        self._over.set()
        self.join(20)

    def _publish(self, publisher):
        number = self.published
        person = number * 7 % PEOPLE_COUNT
        if number % CHANGES_EVERY == 0:
            publisher.event(f"change-{number}", {
                "identityPoolId": POOL, "identityId": f"us-east-1:{person}", "datasetName": "notes",
                "syncCount": number + 1}, "dataset.changed")
        else:
            app, device = ("mail", f"mail-{person % 20}") if number % MAIL_EVERY == 1 else ("chat", f"phone-{person}")
            publisher.event(f"push-{number}", {
                "app": app, "deviceIds": [device], "notification": {"title": f"Message {number}"}})
        self.published += 1
