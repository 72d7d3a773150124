"""Signs requests to CloudKit Web Services with a server-to-server key, by the openssl command line.

usage: cloudkit_server_key.py PORT KEY_FILE OTHER_KEY_FILE; the key IDs are writer, reader and mailer.
"""

import base64
import datetime
import hashlib
import http.client
import json
import subprocess
import sys

PORT, KEY, OTHER = int(sys.argv[1]), sys.argv[2], sys.argv[3]
PUBLIC = "/database/1/iCloud.com.example.chat/production/public/subscriptions"
PREFIX = "X-Apple-CloudKit-Request-"
ARTWORK = {
    "operations": [{
        "operationType": "create",
        "subscription": {
            "subscriptionID": "art", "subscriptionType": "query", "query": {"recordType": "Artwork"},
            "firesOn": ["create"]}}]}


def date(minutes=0):
    return (datetime.datetime.utcnow() + datetime.timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")


def sign(message, key=KEY):
    command = ["openssl", "dgst", "-sha256", "-sign", key]
    return subprocess.run(command, input=message, capture_output=True, check=True).stdout


def signed(path, body, identifier="writer", key=KEY, when=None, digest=None, signed_path=None):
    when = when or date()
    if digest is None:
        digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
    message = f"{when}:{digest}:{signed_path or path}".encode()
    return {PREFIX + "KeyID": identifier, PREFIX + "ISO8601Date": when,
            PREFIX + "SignatureV1": base64.b64encode(sign(message, key)).decode()}


def send(path, body, headers, method="POST"):
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=20)
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    answer = json.loads(response.read() or b"null")
    connection.close()
    return response.status, answer


def check(seen, status, code):
    assert (seen[0], seen[1].get("serverErrorCode")) == (status, code), seen


def good():
    body = json.dumps(ARTWORK).encode()
    status, answer = send(PUBLIC + "/modify", body, signed(PUBLIC + "/modify", body))
    assert status == 200 and answer["subscriptions"][0]["subscriptionID"] == "art", answer
    for identifier in ("writer", "reader"):
        for digest in (None, ""):
            headers = signed(PUBLIC + "/list", b"", identifier, digest=digest)
            status, answer = send(PUBLIC + "/list", b"", headers, "GET")
            assert status == 200, answer
            assert len(answer["subscriptions"]) == (1 if identifier == "writer" else 0), answer
    for minutes in (-9, 9):
        status, answer = send(PUBLIC + "/list", b"", signed(PUBLIC + "/list", b"", when=date(minutes)), "GET")
        assert status == 200, answer
    path = "/device/1/iCloud.com.example.chat/production/tokens/register"
    token = json.dumps({"apnsEnvironment": "production", "apnsToken": "ab" * 32}).encode()
    assert send(path, token, signed(path, token))[0] == 200


def bad():
    body, path = json.dumps(ARTWORK).encode(), PUBLIC + "/modify"
    right = signed(path, body)
    failed = (401, "AUTHENTICATION_FAILED")
    check(send(path, body + b" ", right), *failed)
    check(send(PUBLIC + "/lookup", body, right), *failed)
    check(send(path, body, signed(path, body, key=OTHER)), *failed)
    check(send(path, body, signed(path, body, "nobody")), *failed)
    check(send(path, body, signed(path, body, "writer", signed_path="https://api.apple-cloudkit.com" + path)), *failed)
    for minutes in (-11, 11, -10_000_000):
        check(send(path, body, signed(path, body, when=date(minutes))), *failed)
    for when in ("20260101T000000Z", date()[:-1] + ".000Z", date()[:-1] + "+00:00", "", "2026-13-01T00:00:00Z"):
        check(send(path, body, signed(path, body, when=when or " ")), *failed)
    check(send(path, body, {**right, PREFIX + "ISO8601Date": date(1)}), *failed)
    signature = right[PREFIX + "SignatureV1"]
    for other in ("", "x", signature[:-4], signature + "AAAA", signature.swapcase(), "A" * 96, "-_" * 48):
        check(send(path, body, {**right, PREFIX + "SignatureV1": other}), *failed)
    for missing in right:
        check(send(path, body, {name: value for name, value in right.items() if name != missing}), *failed)
    assert send(PUBLIC + "/list", b"", signed(PUBLIC + "/list", b"", "reader"), "GET")[0] == 200


def refused():
    body, path = json.dumps(ARTWORK).encode(), PUBLIC + "/modify"
    check(send(path, body, signed(path, body, "reader")), 403, "ACCESS_DENIED")
    check(send(path, body, signed(path, body, "mailer")), 404, "NOT_FOUND")
    for database in ("private", "shared"):
        elsewhere = path.replace("/public/", f"/{database}/")
        check(send(elsewhere, body, signed(elsewhere, body)), 403, "ACCESS_DENIED")
    check(send(path + "?ckWebAuthToken=mei", body, signed(path, body)), 400, "BAD_REQUEST")
    check(send(path + "?ckAPIToken=t", body, signed(path, body)), 400, "BAD_REQUEST")
    check(send(path, body, {**signed(path, body), "Authorization": "Bearer t"}), 400, "BAD_REQUEST")
    unknown = "/database/1/iCloud.com.example.chat/production/public/records/query"
    check(send(unknown, body, signed(unknown, body)), 404, "NOT_FOUND")
    check(send(unknown, body, {}), 401, "AUTHENTICATION_FAILED")


globals()[sys.argv[4]]()
