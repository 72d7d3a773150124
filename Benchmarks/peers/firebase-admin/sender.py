"""Sends messages with firebase-admin over HTTP/2, unchanged but for the address and an access token that is there.

usage: sender.py JOB.json      (Benchmarks/peers/README.md says what is in it)
"""

import asyncio
import json
import os
import sys
import time
import warnings

import firebase_admin
from firebase_admin import credentials, messaging
from google.oauth2.credentials import Credentials

# As many messages as one call takes.
BATCH = 500


class ReadyToken(credentials.Base):
    """An access token is fetched once an hour, which is no part of a message."""

    def get_credential(self):
        return Credentials("token")


async def send(message, count):
    while count > 0:
        size = min(count, BATCH)
        response = await messaging.send_each_async([message] * size)
        if response.failure_count:
            failures = [result.exception for result in response.responses if not result.success]
            sys.exit(f"sender.py: {response.failure_count} messages failed, the first one with {failures[0]}")
        count -= size


async def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        job = json.load(file)
    os.environ["SSL_CERT_FILE"] = job["ca"]
    messaging._MessagingService.FCM_URL = job["url"] + "/v1/projects/{0}/messages:send"
    firebase_admin.initialize_app(ReadyToken(), {"projectId": job["project"]})
    notification = messaging.Notification(title=job["title"], body=job["body"])
    android = messaging.AndroidConfig(priority="high")
    message = messaging.Message(token=job["token"], notification=notification, android=android)
    await send(message, job["warmUp"])
    start, spent = time.perf_counter(), time.process_time()
    await send(message, job["count"])
    json.dump({"seconds": time.perf_counter() - start, "cpuSeconds": time.process_time() - spent}, sys.stdout)


warnings.simplefilter("ignore", DeprecationWarning)
asyncio.run(main())
