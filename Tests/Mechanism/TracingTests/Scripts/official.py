"""Reads exports of traces, and writes answers to them, with the official protobuf messages of OpenTelemetry.

Input (JSON, bytes in hexadecimal digits):
  {"requests": [HEX, ...], "answers": [{"rejected": 3, "message": "..."}, ...]}
Output:
  {"requests": [{"message": {...}, "isCanonical": true}, ...], "answers": [HEX, ...]}

`message` is the export as JSON: members in the names of the .proto files, bytes in hexadecimal digits, 64-bit numbers
as text. `isCanonical` says that the official library writes the same bytes, so that nothing of them was unknown to it.
"""

import json
import sys

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

LONG = {
    FieldDescriptor.TYPE_INT64,
    FieldDescriptor.TYPE_UINT64,
    FieldDescriptor.TYPE_FIXED64,
}


def plain(field, value):
    """One value as JSON has it."""
    if isinstance(value, Message):
        return as_json(value)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return value.hex()
    if field.type == FieldDescriptor.TYPE_ENUM:
        return field.enum_type.values_by_number[value].name
    return str(value) if field.type in LONG else value


def as_json(message):
    """The fields that are set."""
    members = {}
    for field, value in message.ListFields():
        if field.is_repeated:
            members[field.name] = [plain(field, element) for element in value]
        else:
            members[field.name] = plain(field, value)
    return members


def read(digits):
    """One export."""
    encoded = bytes.fromhex(digits)
    request = ExportTraceServiceRequest.FromString(encoded)
    is_canonical = request.SerializeToString(deterministic=True) == encoded
    return {"message": as_json(request), "isCanonical": is_canonical}


def write(answer):
    """One answer."""
    response = ExportTraceServiceResponse()
    if answer["rejected"] or answer["message"]:
        response.partial_success.rejected_spans = answer["rejected"]
        response.partial_success.error_message = answer["message"]
    return response.SerializeToString().hex()


task = json.load(sys.stdin)
json.dump(
    {
        "requests": [read(digits) for digits in task["requests"]],
        "answers": [write(answer) for answer in task["answers"]],
    },
    sys.stdout,
)
