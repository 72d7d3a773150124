"""Validates events against the published schemas, with a validator that is not ours: validate_events.py SCHEMA-FOLDER

Each line of the input is {"schema": TYPE, "event": EVENT}; a line of the output is empty if the event is valid, else it
says what is wrong.
"""
import json
import pathlib
import sys

from jsonschema import Draft202012Validator, FormatChecker  # Debian: python3-jsonschema

validators = {}
for path in pathlib.Path(sys.argv[1]).glob("*.json"):
    schema = json.loads(path.read_text())
    Draft202012Validator.check_schema(schema)
    validators[path.stem] = Draft202012Validator(schema, format_checker=FormatChecker())
for line in sys.stdin:
    case = json.loads(line)
    errors = validators[case["schema"]].iter_errors(case["event"])
    print(next((f"{error.json_path}: {error.message}"[:200].replace("\n", " ") for error in errors), ""))
