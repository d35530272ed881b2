"""The two functions that the notebook gives the mob; they stand there in a cell each."""

import json

from confluent_kafka import KafkaException


def page_second(message):
    if message is None:
        return None
    if message.error():
        raise KafkaException(message.error())
    click = json.loads(message.value())
    return click["timestamp"] // 1000 if click["click_type"] == "Page" else None


def commit_behind(reader, message, error, _):
    if error:
        raise KafkaException(error)  # the program ends; a restart sends it again
    reader.commit(message=message, asynchronous=False)
