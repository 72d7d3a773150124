"""Sends pushes with pywebpush, unchanged, over HTTP/1.1. Nothing here is taken from Apus.

Reads a JSON array from standard input, one object for each push, and writes an array of answers to standard output:

  {subscription, data, key, claims, ttl, headers}  ->  {status, headers, text}

`subscription` is what a browser hands out, `key` the private VAPID key in base64url (left out to send without VAPID).
"""

import json
import sys

import pywebpush


def send(push):
    key = push.get("key")
    try:
        response = pywebpush.webpush(
            push["subscription"], push["data"], vapid_private_key=key,
            vapid_claims=push["claims"] if key else None, ttl=push["ttl"], headers=push["headers"], timeout=60)
    except pywebpush.WebPushException as failure:
        response = failure.response
    headers = {name.lower(): value for name, value in response.headers.items()}
    return {"status": response.status_code, "headers": headers, "text": response.text}


json.dump([send(push) for push in json.load(sys.stdin)], sys.stdout)
