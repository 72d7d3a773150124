"""Encrypts, decrypts and verifies with the Web Push libraries of the Web Push Libs organization: http-ece, pywebpush,
py-vapid. Nothing here is taken from Apus.

Reads a JSON object from standard input and writes one to standard output; all bytes are base64url without padding.

  decrypt  [{scalar, auth, body}]          -> decrypted  [plaintext], by http-ece, with the recipient's keys
  encrypt  [{p256dh, auth, plaintext, rs}] -> encrypted  [body], by http-ece, with a record size
  push     [{p256dh, auth, plaintext}]     -> pushed     [body], by pywebpush, as a web server would
  verify   [header value]                  -> verified   [{valid, header, claims, key}], by py-vapid
  sign     [{pem, claims}]                 -> signed     [header value], by py-vapid
  public   [text of a private key]         -> public     [its public key], by py-vapid
"""

import base64
import json
import sys

import http_ece
import py_vapid
import pywebpush
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decrypt(request):
    private_key = ec.derive_private_key(int.from_bytes(decode(request["scalar"]), "big"), ec.SECP256R1())
    return encode(http_ece.decrypt(
        decode(request["body"]), private_key=private_key, auth_secret=decode(request["auth"]), version="aes128gcm"))


def encrypt(request):
    return encode(http_ece.encrypt(
        decode(request["plaintext"]), private_key=ec.generate_private_key(ec.SECP256R1()),
        dh=decode(request["p256dh"]), auth_secret=decode(request["auth"]), rs=request["rs"], version="aes128gcm"))


def push(request):
    subscription = {
        "endpoint": "https://push.example.net/subscription",
        "keys": {"p256dh": request["p256dh"], "auth": request["auth"]}}
    return encode(pywebpush.WebPusher(subscription).encode(decode(request["plaintext"]))["body"])


def verify(value):
    # py-vapid reads the parameters without the white space that RFC 9110 section 11.2 allows between them.
    value = value.replace(", ", ",")
    token, key = (parameter.split("=", 1)[1] for parameter in value.split(" ", 1)[1].split(","))
    header, claims = (json.loads(decode(part)) for part in token.split(".")[:2])
    return {"valid": py_vapid.Vapid02.verify(value), "header": header, "claims": claims, "key": key}


def sign(request):
    key = py_vapid.Vapid02.from_pem(request["pem"].encode())
    return key.sign(request["claims"])["Authorization"]


def public(text):
    key = py_vapid.Vapid02.from_pem(text.encode()) if "BEGIN" in text else py_vapid.Vapid02.from_raw(text.encode())
    return encode(key.public_key.public_bytes(
        serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint))


def main():
    requests = json.load(sys.stdin)
    answers = {
        "decrypted": [decrypt(request) for request in requests.get("decrypt", [])],
        "encrypted": [encrypt(request) for request in requests.get("encrypt", [])],
        "pushed": [push(request) for request in requests.get("push", [])],
        "verified": [verify(request) for request in requests.get("verify", [])],
        "signed": [sign(request) for request in requests.get("sign", [])],
        "public": [public(request) for request in requests.get("public", [])],
    }
    json.dump(answers, sys.stdout)


main()
