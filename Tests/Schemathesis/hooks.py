"""Tells Schemathesis what the document of the API cannot say, and puts into the registry what requests can be about.

Started by deploy/bin/api-check, with APUS_API_URL and APUS_API_TOKEN in the environment.
"""

import copy
import hashlib
import os
import re

import jsonschema_rs
import requests
import schemathesis
from hypothesis import strategies as st
from schemathesis.core.failures import AcceptedNegativeData
from schemathesis.openapi.checks import IgnoredAuth, MissingHeaderNotRejected, RejectedPositiveData, UseAfterFree

URL = os.environ["APUS_API_URL"]
HEADERS = {"Authorization": f"Bearer {os.environ['APUS_API_TOKEN']}"}
APPS = ["chat", "mail"]
POOL = "us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c"
# Devices that are there for the whole run: operations that replace or remove a device draw other names.
DEVICES = {
    "phone": {"app": "chat", "platform": "APNS", "identityPoolId": POOL, "identityId": "us-east-1:a1"},
    "tablet": {"app": "mail", "platform": "APNS_SANDBOX", "identityPoolId": "eu:0", "identityId": "eu:1"},
    "droid": {"app": "chat", "platform": "GCM"},
}
# Points of the curve, and ends that are none or far: a schema can say neither.
PUBLIC_KEYS = [
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    "BP4z9KsN6nGRTbVYI/c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8=",
]
ENDS = [None, 4102444800000, 4102444800000.5]
PREDICATES = [
    "TRUEPREDICATE",
    'artist = "Mei Chen" AND price <= 20',
    "genre IN {\"jazz\", 'soul'} OR NOT title BEGINSWITH \"Demo\"",
    "distanceToLocation:fromLocation:(place, {52.52, 13.405}) < 5000",
    'self CONTAINS "bob smith"',
    "released >= date(1769860800000)",
]

# What a schema cannot say, by the beginning of the answer's detail: such a request is right by the document, and may
# be refused nevertheless.
BEYOND_SCHEMAS = [
    # A predicate is a language of its own.
    r"body\.(predicate|filterBy|filterGroup|filter)\b",
    # A push has 4096 bytes for all texts together, and texts are measured in bytes, not in characters.
    r"A push of the subscription .* can take \d+ bytes",
    r"notificationInfo names \d+ fields",
    r"A text of notificationInfo has \d+ bytes",
    # Two members of one body have to differ.
    r"The \w+ token of .* is the same as its alert token",
    # A token of the one kind is none of the other, though both are hexadecimal digits.
    r'"[a-z.]+": it is of tokens/create',
    # An endpoint has to be at a public host.
    r'"subscription": its "endpoint" is refused',
    # Only the configuration knows the tables, and what is wrong with a row depends on what happened to it.
    r"no \[\[source\]\] names the table",
    r"the (webhook|envelope)\.",
    # Two items of a query exclude each other.
    r"The query has deviceId and userId",
]


def put(path: str, body: dict) -> requests.Response:
    return requests.put(URL + path, json=body, headers=HEADERS, timeout=10)


def web_token() -> str:
    """A token that the registry knows as that of a client that fetches its notifications."""
    path = "/device/1/iCloud.com.example.chat/production/tokens/create?ckWebAuthToken=mei"
    answer = requests.post(URL + path, json={"apnsEnvironment": "production"}, headers=HEADERS, timeout=10)
    answer.raise_for_status()
    return answer.json()["apnsToken"]


def names(*known: str) -> st.SearchStrategy:
    """Names of at most 256 bytes, half of them known.

    They have no percent sign, which Schemathesis does not encode again in a name that an answer has told it.
    """
    characters = st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="%")
    any_name = st.text(characters, min_size=1, max_size=64)
    return st.one_of(st.sampled_from(known), any_name) if known else any_name


schemathesis.openapi.format("name", names())
schemathesis.openapi.format("device", names(*DEVICES))
schemathesis.openapi.format("text", st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=512))
schemathesis.openapi.format("endpoint", st.from_regex(r"\Ahttps://[a-z]{1,9}\.example(/[$-~]{0,99})?\Z"))
schemathesis.openapi.format("predicate", st.sampled_from(PREDICATES))


def is_valid_body(case) -> bool:
    """Whether the body of a case is right by the document after all.

    Schemathesis says what it changed about a body, and not whether the body is wrong afterwards: text that is drawn to
    violate the pattern of a name, and the format that this file adds to it, can meet the pattern nevertheless.
    """
    if not isinstance(case.body, dict):
        return False
    content = case.operation.definition.raw["requestBody"]["content"]["application/json"]
    return jsonschema_rs.is_valid({**content["schema"], "components": document["components"]}, case.body)


document = {}


@schemathesis.hook
def before_load_schema(context, raw_schema):
    document.update(copy.deepcopy(raw_schema))
    for index, (name, device) in enumerate(DEVICES.items()):
        put(f"/v1/devices/{name}", {"token": f"00fc{index:028x}", **device}).raise_for_status()
    schemas = raw_schema["components"]["schemas"]
    schemas["AppName"]["enum"] = APPS
    schemas["Name"]["format"] = "name"
    schemas["CampaignName"]["format"] = "name"
    schemas["Text"]["format"] = "text"
    for content in ("QueryContent", "UserQueryContent"):
        schemas[content]["properties"]["predicate"]["format"] = "predicate"
    schemas["PushSubscription"]["properties"]["endpoint"]["format"] = "endpoint"
    schemas["PublicKey"]["enum"] = PUBLIC_KEYS
    schemas["PushSubscription"]["properties"]["expirationTime"] = {"enum": ENDS}
    # The token of the run is for all apps, so a registration has to name one.
    for system in ("Apple", "Google", "Amazon", "Browser", "Web"):
        registration = schemas[f"{system}DeviceRegistration"]
        registration["required"].append("app")
        registration["properties"]["app"] = {"enum": APPS if system != "Web" else APPS[:1]}
    schemas["WebDeviceRegistration"]["properties"]["token"] = {"enum": [web_token() for _ in range(3)]}
    known = {**raw_schema["components"]["parameters"]["deviceId"], "schema": {**schemas["Name"], "format": "device"}}
    for path, item in raw_schema["paths"].items():
        if path.startswith("/v1/devices/{deviceId}/"):
            item["parameters"][0] = known


@schemathesis.hook
def before_call(context, case, kwargs):
    # A subscription has so many forms that it would be a pity to lose them to devices that there are not.
    if case.operation.label == "PUT /v1/devices/{deviceId}/subscriptions/{subscriptionId}":
        # It is percent-encoded already.
        name = str(case.path_parameters.get("deviceId"))
        if name not in DEVICES:
            put(f"/v1/devices/{name}", {**DEVICES["phone"], "token": hashlib.sha256(name.encode()).hexdigest()})


@schemathesis.hook
def filter_failure(context, failure, case, response):
    # The formats are ours, and in the document there are none to be violated.
    violated = set(re.findall(r"violates (.+?) at ", failure.message))
    if isinstance(failure, AcceptedNegativeData):
        if violated == {"`format`"} or "in body" in failure.message and is_valid_body(case):
            return False
    # Deleting a badge sets it to 0.
    if isinstance(failure, UseAfterFree) and failure.free.endswith("/badge"):
        return False
    # Who fails to authenticate too often is refused with 429, which is no less a refusal.
    if isinstance(failure, (IgnoredAuth, MissingHeaderNotRejected)) and re.search(r"\b[Gg]ot `?429\b", failure.message):
        return False
    if not isinstance(failure, RejectedPositiveData) or response.status_code != 400:
        return True
    detail = response.json()["detail"]
    return not any(re.match(rule, detail, re.DOTALL) for rule in BEYOND_SCHEMAS)
