"""The client of the schema registry, on the lab's."""

from __future__ import annotations

import time
from uuid import uuid4

import pytest

from workbook.errors import RegistryUnreachable, SchemaRefused
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


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "here"])
def test_a_silent_registry_is_an_error_that_says_what_to_check(url: str) -> None:
    began = time.monotonic()
    with pytest.raises(RegistryUnreachable, match="SCHEMA_REGISTRY_URL"):
        versions(url, "clicks-value", patience=0.6)
    assert time.monotonic() - began < 10
