"""Asks a schema registry by Confluent's API, about subjects, ids and texts."""

import json
import os
import re
import time
from collections.abc import Callable
from contextlib import suppress
from types import SimpleNamespace
from typing import Any, TypeVar
from urllib.parse import urlsplit

from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.error import SchemaRegistryError
from fastavro.schema import load_schema

from workbook.errors import RegistryUnreachable, SchemaRefused
from workbook.kafka.config import Secret, masked

PATIENCE_S = 60.0
"""Seconds for which a registry that doesn't answer is asked again."""

NO_SUBJECT = 40401
FILES = ("CA_LOCATION", "CERTIFICATE_LOCATION", "KEY_LOCATION", "KEY_PASSWORD")
"""What may be named behind SCHEMA_REGISTRY_: the client calls them ssl.ca.location, and so on."""

FORM = "https://user:password@host:port/path"
T = TypeVar("T")


def register(url: str, subject: str, schema: str) -> int:
    """Register a schema (a JSON text) as the subject's next version; returns its id.

    A schema that the subject has already keeps its id. A new subject is BACKWARD compatible where
    the registry would check nothing. Raises SchemaRefused, RegistryUnreachable.
    """

    def send(client: SchemaRegistryClient) -> int:
        if subject not in client.get_subjects() and client.get_compatibility() == "NONE":
            with suppress(SchemaRegistryError):  # somebody else has just set it
                client.set_compatibility(subject, "BACKWARD")
        return int(client.register_schema(subject, Schema(schema, "AVRO")))

    return _ask(url, PATIENCE_S, send)


def subjects(url: str, within: float, advice: str) -> list[str]:
    """Return all subjects; ask once. ``advice`` ends the error where the registry doesn't serve."""
    return _ask(url, 0, SchemaRegistryClient.get_subjects, within, advice)


def versions(url: str, subject: str, *, patience: float = PATIENCE_S) -> dict[int, str]:
    """Return the subject's schemas by their ids, the oldest first; {} for an unknown subject."""

    def read(client: SchemaRegistryClient) -> dict[int, str]:
        try:
            numbers = client.get_versions(subject)
        except SchemaRegistryError as error:
            if error.error_code != NO_SUBJECT:
                raise
            return {}
        found = [client.get_version(subject, number) for number in numbers]
        return {int(one.schema_id or 0): _whole(client, one.schema) for one in found}

    return _ask(url, patience, read)


def by_id(url: str, number: int) -> tuple[str, str] | None:
    """Return the type (``AVRO``, ``PROTOBUF``, ``JSON``) and the text of a schema; None: no such.

    Asks once. Raises ``RegistryUnreachable``.
    """

    def read(client: SchemaRegistryClient) -> tuple[str, str] | None:
        try:
            schema = client.get_schema(number)
        except SchemaRegistryError as error:
            if error.http_status_code != 404:
                raise
            return None
        return schema.schema_type or "AVRO", _whole(client, schema)

    return _ask(url, 0, read)


def _whole(client: SchemaRegistryClient, schema: Schema) -> str:
    """Return a schema in which the first use of each type from another subject has its text."""
    texts, waiting = {"": schema.schema_str or ""}, list[Any](schema.references or ())
    for each in waiting:  # it grows meanwhile
        other = client.get_version(each.subject, each.version).schema
        texts[each.name] = other.schema_str or ""
        waiting += other.references or ()
    types: Any = SimpleNamespace(load=lambda name: json.loads(texts[name]))
    try:
        return json.dumps(load_schema("", repo=types, _write_hint=False)) if waiting else texts[""]
    except Exception:  # it isn't Avro, or lacks a type: fastavro raises whatever it stumbles over
        return texts[""]


def client_config(url: str) -> dict[str, str]:
    """Return the settings of Confluent's client; they show no password."""
    found = {name: os.environ.get(f"SCHEMA_REGISTRY_{name}") for name in FILES}
    files = {f"ssl.{n.lower().replace('_', '.')}": at for n, at in found.items() if at}
    return masked({"url": Secret(url), **files})


def client(url: str, within: float) -> SchemaRegistryClient:
    """Return a client that tries once; raise ``RegistryUnreachable`` for a file that is no PEM."""
    more: dict[str, Any] = {"timeout": within, "max.retries": 0}
    try:
        return SchemaRegistryClient({**client_config(url), **more})
    except OSError as error:
        named = ", ".join(f"SCHEMA_REGISTRY_{name}" for name in FILES)
        raise RegistryUnreachable(
            f"No certificate or key of the schema registry can be read ({error.args[-1]}). "
            f"Expected PEM files. Check what is set of {named}."
        ) from None


def refusal(error: Exception) -> str:
    """Return why a registry didn't answer, without the words that may hold a password."""
    status = getattr(error, "http_status_code", 0)
    if status in (401, 403):
        return f"it refuses the user or the password (HTTP status {status})"
    text = (str(error).splitlines() or [type(error).__name__])[0].replace(". ", ", ")
    if "CERTIFICATE_VERIFY_FAILED" in text:
        text += "; SCHEMA_REGISTRY_CA_LOCATION names the CA that is trusted"
    elif "ALERT" in text:
        text += (
            "; it may want SCHEMA_REGISTRY_CERTIFICATE_LOCATION and SCHEMA_REGISTRY_KEY_LOCATION"
        )
    return f"its answer is HTTP status {status}" if status else text


def _ask(
    url: str,
    patience: float,
    question: Callable[[SchemaRegistryClient], T],
    within: float = 5,
    advice: str = "Check that it runs, that SCHEMA_REGISTRY_URL has the whole address (Apicurio's "
    "ends in /apis/ccompat/v7), and that NO_PROXY names its host if you have a proxy.",
) -> T:
    """Return the answer; ask again while the registry gives none, for ``patience`` seconds."""
    deadline = time.monotonic() + patience
    shown = re.sub("//.*@", "//", url).partition("?")[0]  # without a password
    while True:
        try:
            urlsplit(url).port  # noqa: B018  # the client's words for a bad one may hold the password
            with client(url, within) as asked:
                return question(asked)
        except RegistryUnreachable:
            raise
        except SchemaRegistryError as error:
            if "already exists" in str(error) and time.monotonic() < deadline:
                continue  # somebody else has registered the subject's first version meanwhile
            if error.http_status_code in (409, 422):
                raise SchemaRefused(
                    f"The schema registry at {shown} refused the schema: {error.error_message} "
                    "Old records must stay readable: give a new field a default, and leave the "
                    "type of an old one as it is."
                ) from None
            came, final = refusal(error), error.http_status_code < 500
        except ValueError:  # whose words may hold the password
            came, final = f"this is no URL of the form {FORM}, or no registry answers there", True
        except Exception as error:  # HTTP's, from whichever library the client uses
            came, final = refusal(error), False
        if final or time.monotonic() >= deadline:
            raise RegistryUnreachable(
                f"Expected a schema registry with Confluent's API at {shown}, but {came}. {advice}"
            ) from None
        time.sleep(0.5)
