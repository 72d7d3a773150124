"""Publishes events through pika, a client that is not ours, and counts an event only when RabbitMQ confirmed it."""

import threading
import time

import pika
from pika.adapters.select_connection import SelectConnection

OUTSTANDING_MAXIMUM = 1_000
TICK_SECONDS = 0.02


class Publisher(threading.Thread):
    """Sends all events with many confirms outstanding; `confirmed` and `published_at` may be read while it runs."""

    def __init__(self, url, exchange, events, rate):
        super().__init__(name="publisher", daemon=True)
        self._exchange = exchange
        self._events = events
        self._rate = rate
        self._next = 0
        self._outstanding = {}
        self._tag = 0
        self._channel = None
        self._ticking = False
        self._connection = SelectConnection(
            pika.URLParameters(url + "?heartbeat=60"),
            on_open_callback=lambda connection: connection.channel(on_open_callback=self._opened),
            on_open_error_callback=lambda _, error: self._fail(error),
            on_close_callback=lambda connection, reason: self._closed(reason))
        self.confirmed = 0
        self.refused = 0
        self.error = None
        self.started = None
        self.ended = None
        # Wall clock in milliseconds, by index of the event.
        self.published_at = {}

    def run(self):
        try:
            self._connection.ioloop.start()
        except Exception as error:  # the main thread tells it
            self.error = self.error or error

    @property
    def is_done(self):
        return self.confirmed == len(self._events)

    def _opened(self, channel):
        self._channel = channel
        channel.confirm_delivery(self._confirmed, callback=lambda _: self._begin())

    def _begin(self):
        self.started = time.time()
        self._send()

    def _send(self):
        self._ticking = False
        while self._next < len(self._events) and len(self._outstanding) < OUTSTANDING_MAXIMUM:
            if self._rate and self._next > (time.time() - self.started) * self._rate:
                self._tick()
                return
            self._publish(self._next)
            self._next += 1

    def _tick(self):
        if not self._ticking:
            self._ticking = True
            self._connection.ioloop.call_later(TICK_SECONDS, self._send)

    def _publish(self, index):
        event = self._events[index]
        properties = pika.BasicProperties(delivery_mode=2, **event.properties)
        self._tag += 1
        self._outstanding[self._tag] = index
        self.published_at[index] = time.time() * 1_000
        self._channel.basic_publish(self._exchange, event.routing_key, event.body, properties)

    def _confirmed(self, frame):
        method = frame.method
        tags = [tag for tag in self._outstanding if tag <= method.delivery_tag] if method.multiple else [
            method.delivery_tag]
        is_accepted = isinstance(method, pika.spec.Basic.Ack)
        for tag in tags:
            index = self._outstanding.pop(tag)
            if is_accepted:
                self.confirmed += 1
            else:
                self.refused += 1
                self._publish(index)
        if self.is_done:
            self.ended = time.time()
            self._connection.close()
        else:
            self._send()

    def _fail(self, error):
        self.error = error
        self._connection.ioloop.stop()

    def _closed(self, reason):
        if not self.is_done:
            self.error = reason
        self._connection.ioloop.stop()
