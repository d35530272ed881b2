"""A secured cluster of one's own: what the workbook is told, and what it says."""

from __future__ import annotations

from confluent_kafka.admin import AdminClient
from secured import Secured


def test_a_password_and_a_certificate_both_log_in(secured: Secured) -> None:
    for config in secured.login("learner"), secured.certificate("learner"):
        assert AdminClient(config).list_topics(timeout=10).brokers
