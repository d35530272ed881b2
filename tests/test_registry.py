"""The client of the schema registry, on the lab's."""

import json
import time
from types import SimpleNamespace
from typing import cast
from uuid import uuid4

import pytest
from confluent_kafka.schema_registry import Schema, SchemaReference, SchemaRegistryClient

from workbook.errors import RegistryUnreachable, SchemaRefused
from workbook.kafka import registry as registry_client
from workbook.kafka.registry import register, versions
from workbook.stack import addresses
from workbook.streams.events.ad_actions import INCOMPATIBLE, VERSIONS


@pytest.fixture(scope="module")
def registry() -> str:
    return addresses.registry("test")


def test_a_registry_takes_what_is_compatible_and_refuses_the_rest(registry: str) -> None:
    subject = f"{uuid4()}-value"
    assert versions(registry, subject) == {}
    old, new = (register(registry, subject, text) for text in VERSIONS)
    assert register(registry, subject, VERSIONS[0]) == old
    assert versions(registry, subject) == {old: VERSIONS[0], new: VERSIONS[1]}
    for text, words in ((INCOMPATIBLE, "STRING not compatible with.*LONG"), ("{", "artifact")):
        with pytest.raises(SchemaRefused, match=words):
            register(registry, subject, text)
    assert list(versions(registry, subject)) == [old, new]


def test_types_of_other_subjects_are_put_in(registry: str) -> None:
    name = f"x{uuid4().hex}"
    kind = {"type": "enum", "name": "Kind", "namespace": name, "symbols": ["view"]}
    both = [{"name": each, "type": f"{name}.Kind"} for each in ("type", "source")]
    with SchemaRegistryClient({"url": registry}) as client:
        client.register_schema(f"{name}-kind", Schema(json.dumps(kind), "AVRO"))
        record = json.dumps({"type": "record", "name": "R", "namespace": name, "fields": both})
        refers = [SchemaReference(f"{name}.Kind", f"{name}-kind", 1)]
        client.register_schema(name, Schema(record, "AVRO", refers))
    [text] = versions(registry, name).values()
    fields = json.loads(text)["fields"]
    assert fields[0]["type"]["symbols"] == ["view"]
    assert fields[1]["type"] == f"{name}.Kind"


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "here"])
def test_a_silent_registry_is_an_error_that_says_what_to_check(url: str) -> None:
    began = time.monotonic()
    with pytest.raises(RegistryUnreachable, match="SCHEMA_REGISTRY_URL"):
        versions(url, "clicks-value", patience=0.6)
    assert time.monotonic() - began < 10


def test_what_is_no_avro_stays_as_it_is() -> None:
    class Other:
        def get_version(self, subject: str, version: int) -> SimpleNamespace:
            return SimpleNamespace(schema=Schema("message B {}", "PROTOBUF"))

    text, refers = 'import "b.proto"; message A { B b = 1; }', [SchemaReference("b.proto", "b", 1)]
    client = cast(SchemaRegistryClient, Other())
    assert registry_client._whole(client, Schema(text, "PROTOBUF", refers)) == text
