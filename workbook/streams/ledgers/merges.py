"""Judges merged messages: every good message of both streams must be in one, under its ssid."""

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from json import JSONDecodeError
from typing import ClassVar

import pandas as pd

from workbook.kafka.readers import read_dead_letters, read_messages
from workbook.streams.events.reasons import Reason
from workbook.streams.events.visits import Merged
from workbook.streams.ledgers.findings import Findings, compare

MEANINGS = {
    "lost": "a good message that is in no merged one",
    "unexpected": "in a merged message, but never sent, or rejected",
    "foreign": "merged under another ssid",
    "changed": "merged with other contents than were sent",
    "misrouted": "a merged message in another partition than its ssid's",
    "disordered": "a merged message whose messages aren't by event time, or that has one twice",
    "misjudged": "an order without a visit that passed for one, a visit that was rejected, or a "
    "part of a visit whose earlier parts never came",
    "repeated": "the same merged message once more",
    "duplicated": "a message in more than one part of its visit",
    "fragments": "a further part of a visit, which says so",
    "apart": "a further part of a visit, which claims to be the first",
}

_CONTENTS = ("timestamp", "page", "order_id", "cents")
_KEY = ["type", "event_id"]


@dataclass(frozen=True, kw_only=True)
class MergeVerdict(Findings):
    """What became of the visits.

    The first seven are faults. The others describe: at least once may repeat a merged message, and
    a message that arrives after its visit was emitted makes a part of its own. ``expected`` counts
    the visits that were sent, ``emitted`` merged messages, each once.
    """

    meanings: ClassVar = MEANINGS
    faults: ClassVar = tuple(MEANINGS)[:7]

    expected: int
    emitted: int

    @property
    def whole(self) -> bool:
        """Return True if every visit was emitted in one piece, and nothing twice."""
        return self.clean and not any(self.counts.values())

    @property
    def headline(self) -> str:
        return f"{self.expected:,} visits, {self.emitted:,} merged messages"


class MergeLedger:
    """Every message of both streams, and the judge of what was merged.

    ``expected`` has a row per message: type, event_id, ssid, partition, timestamp, and optionally
    page, order_id, cents, and reason (None when good). ``VisitStream.expected`` gives it; both
    streams belong in one frame.
    """

    def __init__(self, expected: pd.DataFrame) -> None:
        good = expected if "reason" not in expected else expected[expected["reason"].isna()]
        self.messages = good.drop_duplicates(_KEY).reset_index(drop=True)

    @property
    def ssids(self) -> list[str]:
        """Return the ssids with good messages, sorted."""
        return sorted(self.messages["ssid"].unique())

    def judge(
        self,
        observed: Iterable[tuple[int, Merged]],
        rejected: Iterable[tuple[int, Merged]] = (),
    ) -> MergeVerdict:
        """Compare merged messages, each with its partition, with what was sent.

        ``rejected`` are those that went to the dead letters, with the source partition.
        """
        seen = [(p, one, False) for p, one in observed] + [(p, one, True) for p, one in rejected]
        times = Counter(seen)
        each = list(times)
        messages, inside, parts = self.messages, _messages(each), _parts(each)
        place = ["ssid", "partition"]
        lost, extra, changed, twice = compare(messages, inside, _KEY, _CONTENTS)
        foreign = compare(messages, inside, _KEY, ["ssid"]).changed
        visits = messages.drop_duplicates("ssid")[place]
        elsewhere = compare(visits, parts, ["ssid"], ["partition"]).changed
        again = twice.merge(messages[[*_KEY, "ssid"]], on=_KEY, suffixes=("_found", ""))
        repeated = [(one.ssid, one.fragment, n) for (_, one, _), n in times.items() if n > 1]
        firsts = parts[parts["fragment"] == 0].drop(columns="rejected")
        found = {
            "lost": lost[[*_KEY, *place]],
            "unexpected": extra[[*_KEY, "ssid_found"]],
            "foreign": foreign[[*_KEY, "ssid", "ssid_found"]],
            "changed": changed.drop_duplicates(_KEY)[[*_KEY, "ssid"]],
            "misrouted": elsewhere[[*place, "partition_found"]],
            "disordered": _disordered(each),
            "misjudged": _misjudged(parts),
            "repeated": pd.DataFrame(repeated, columns=["ssid", "fragment", "times"]),
            "duplicated": again.drop_duplicates(_KEY)[[*_KEY, "ssid"]],
            "fragments": parts[parts["fragment"] > 0],
            "apart": firsts[firsts.duplicated("ssid")],
        }
        found = {name: rows.reset_index(drop=True) for name, rows in found.items()}
        return MergeVerdict(found=found, expected=len(self.ssids), emitted=len(each))


def _misjudged(parts: pd.DataFrame) -> pd.DataFrame:
    """Return the parts judged wrongly: a first one without tracking messages is no visit."""
    came = {(part.ssid, part.fragment + 1) for part in parts.itertuples()}
    rows = []
    for ssid, number, _, tracking, orders, rejected in parts.itertuples(index=False):
        if not tracking and not orders:
            rows.append((ssid, number, "no message in it"))
        elif rejected and (tracking or number):
            rows.append((ssid, number, "rejected"))
        elif not rejected and not tracking and not number:
            rows.append((ssid, number, f"not rejected: {Reason.NO_VISIT}"))
        elif number and (ssid, number) not in came:
            rows.append((ssid, number, "no part before it"))
    return pd.DataFrame(rows, columns=["ssid", "fragment", "why"])


def _disordered(each: list[tuple[int, Merged, bool]]) -> pd.DataFrame:
    rows = []
    for _, one, _ in each:
        for side in (one.tracking, one.orders):
            times, ids = [m.timestamp for m in side], [m.event_id for m in side]
            if times != sorted(times) or len(set(ids)) < len(ids):
                rows.append((one.ssid, one.fragment, times))
    return pd.DataFrame(rows, columns=["ssid", "fragment", "timestamps"])


def _messages(each: list[tuple[int, Merged, bool]]) -> pd.DataFrame:
    """Return a row per message in a merged one, with the ssid under which it was merged."""
    rows = [
        (m.type, m.event_id, one.ssid, *(getattr(m, name, None) for name in _CONTENTS))
        for _, one, _ in each
        for m in one.messages
    ]
    return pd.DataFrame(rows, columns=[*_KEY, "ssid", *_CONTENTS])


def _parts(each: list[tuple[int, Merged, bool]]) -> pd.DataFrame:
    rows = [
        (one.ssid, one.fragment, partition, len(one.tracking), len(one.orders), rejected)
        for partition, one, rejected in each
    ]
    names = ["ssid", "fragment", "partition", "tracking", "orders", "rejected"]
    return pd.DataFrame(rows, columns=names).astype({"rejected": bool})


# --- merged visits in a topic -------------------------------------------------------------------

Placed = tuple[int, Merged]
"""A partition, and a merged visit that is in it, or that came from it."""


def read_merged(config: dict[str, str], topic: str) -> list[Placed]:
    """Read every merged visit of a topic, each with its partition; raise as ``read_messages``.

    Records of somebody else are skipped. Raises ValueError for a visit with a wrong timestamp
    (``Merged.from_json``).
    """
    found = []
    for message in read_messages(config, topic):
        with suppress(JSONDecodeError, UnicodeDecodeError, KeyError, TypeError):
            visit = Merged.from_json(message.value() or b"")
            found.append((int(message.partition() or 0), visit))
    return found


def read_no_visits(config: dict[str, str], dead_letters: str) -> list[Placed]:
    """Read the orders whose visit never came, each with the partition that it came from."""
    letters = read_dead_letters(config, dead_letters)
    lone = letters[letters["reason"] == str(Reason.NO_VISIT)]
    return [
        (int(partition), Merged.from_json(value))
        for partition, value in zip(lone["partition"], lone["value"], strict=True)
    ]
