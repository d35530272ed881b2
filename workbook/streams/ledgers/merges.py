"""Judges merged messages: every good message of both streams must be in one, under its ssid."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar

import pandas as pd

from workbook.streams.events.merged import Merged
from workbook.streams.events.reasons import Reason
from workbook.streams.ledgers.findings import Findings

REQUIRED_COLUMNS = ("type", "event_id", "ssid", "partition", "timestamp")

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


@dataclass(frozen=True)
class MergeVerdict(Findings):
    """Each anomaly with the very rows, as a DataFrame; empty where all is well.

    The first seven are faults. The others describe: at least once may repeat a merged message, and
    a message that arrives after its visit was emitted makes a part of its own. ``expected`` counts
    the visits that were sent, ``emitted`` merged messages, each once.
    """

    meanings: ClassVar = MEANINGS
    faults: ClassVar = (
        *("lost", "unexpected", "foreign", "changed", "misrouted", "disordered", "misjudged"),
    )

    expected: int
    emitted: int
    lost: pd.DataFrame
    unexpected: pd.DataFrame
    foreign: pd.DataFrame
    changed: pd.DataFrame
    misrouted: pd.DataFrame
    disordered: pd.DataFrame
    misjudged: pd.DataFrame
    repeated: pd.DataFrame
    duplicated: pd.DataFrame
    fragments: pd.DataFrame
    apart: pd.DataFrame
    notes: list[str] = field(default_factory=list)

    @property
    def whole(self) -> bool:
        """Return True if every visit was emitted in one piece, and nothing twice."""
        return self.clean and not any(self.counts.values())

    @property
    def headline(self) -> str:
        """Return the verdict in a line."""
        return self._headline()

    def _headline(self) -> str:
        return f"{super()._headline()}: {self.expected:,} visits, {self.emitted:,} merged messages"


class MergeLedger:
    """Every message of both streams, and the judge of what was merged.

    ``expected`` has a row per message: type, event_id, ssid, partition, timestamp, and optionally
    page, order_id, cents, and reason (None when good). ``VisitStream.expected`` gives it; both
    streams belong in one frame. Raises ValueError when a column is missing.
    """

    def __init__(self, expected: pd.DataFrame) -> None:
        missing = [column for column in REQUIRED_COLUMNS if column not in expected]
        if missing:
            raise ValueError(f"the ledger of merges needs {missing}, and has {list(expected)}")
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
        each = list(dict.fromkeys(seen))
        inside = _messages(each)
        known = self.messages.merge(
            inside, on=_KEY, how="outer", suffixes=("", "_merged"), indicator=True
        )
        both = known[known["_merge"] == "both"]
        parts = _parts(each)
        return MergeVerdict(
            expected=len(self.ssids),
            emitted=len(each),
            lost=_columns(known[known["_merge"] == "left_only"], [*_KEY, "ssid", "partition"]),
            unexpected=_columns(known[known["_merge"] == "right_only"], [*_KEY, "ssid_merged"]),
            foreign=_columns(
                both[both["ssid"] != both["ssid_merged"]], [*_KEY, "ssid", "ssid_merged"]
            ),
            changed=_changed(both),
            misrouted=self._misrouted(parts),
            disordered=_disordered(each),
            misjudged=self._misjudged(parts),
            repeated=_repeated(seen),
            duplicated=_columns(both[both.duplicated(_KEY)].drop_duplicates(_KEY), [*_KEY, "ssid"]),
            fragments=parts[parts["fragment"] > 0].reset_index(drop=True),
            apart=_apart(parts),
        )

    def _misrouted(self, parts: pd.DataFrame) -> pd.DataFrame:
        right = self.messages.drop_duplicates("ssid").set_index("ssid")["partition"]
        expected = parts["ssid"].map(right)
        wrong = parts.assign(expected=expected)[expected.notna() & (expected != parts["partition"])]
        return wrong[["ssid", "expected", "partition"]].reset_index(drop=True)

    def _misjudged(self, parts: pd.DataFrame) -> pd.DataFrame:
        """Return the parts judged wrongly: a first one without tracking messages is no visit."""
        no_visit = (parts["tracking"] == 0) & (parts["fragment"] == 0)
        came = set(zip(parts["ssid"], parts["fragment"], strict=True))
        before = [
            not number or (ssid, number - 1) in came
            for ssid, number in zip(parts["ssid"], parts["fragment"], strict=True)
        ]
        empty = (parts["tracking"] == 0) & (parts["orders"] == 0)
        why = pd.Series("", index=parts.index)
        why[~pd.Series(before, index=parts.index, dtype=bool)] = "no part before it"
        why[no_visit & ~parts["rejected"]] = f"not rejected: {Reason.NO_VISIT}"
        why[~no_visit & parts["rejected"]] = "rejected"
        why[empty] = "no message in it"
        wrong = parts.assign(why=why)[why != ""]
        return wrong[["ssid", "fragment", "why"]].reset_index(drop=True)


def _disordered(each: list[tuple[int, Merged, bool]]) -> pd.DataFrame:
    rows = []
    for _, one, _ in each:
        for side in (one.tracking, one.orders):
            times, ids = [m.timestamp for m in side], [m.event_id for m in side]
            if times != sorted(times) or len(set(ids)) < len(ids):
                rows.append((one.ssid, one.fragment, times))
    return pd.DataFrame(rows, columns=["ssid", "fragment", "timestamps"])


def _columns(rows: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    return rows[names].reset_index(drop=True)


def _messages(each: list[tuple[int, Merged, bool]]) -> pd.DataFrame:
    """Return a row per message in a merged one, with the ssid under which it was merged."""
    rows = [
        (kind, m.event_id, one.ssid, m.timestamp, *more)
        for _, one, _ in each
        for kind, side in (("tracking", one.tracking), ("order", one.orders))
        for m in side
        for more in [(getattr(m, name, None) for name in _CONTENTS[1:])]
    ]
    names = [*_KEY, "ssid", *_CONTENTS]
    return pd.DataFrame(rows, columns=names)


def _parts(each: list[tuple[int, Merged, bool]]) -> pd.DataFrame:
    rows = [
        (one.ssid, one.fragment, partition, len(one.tracking), len(one.orders), rejected)
        for partition, one, rejected in each
    ]
    names = ["ssid", "fragment", "partition", "tracking", "orders", "rejected"]
    return pd.DataFrame(rows, columns=names).astype({"rejected": bool})


def _changed(both: pd.DataFrame) -> pd.DataFrame:
    """Return the messages whose contents differ from what was sent, as far as that is known."""
    differs = pd.Series(False, index=both.index)
    for name in _CONTENTS:
        if f"{name}_merged" in both:
            sent, came = both[name], both[f"{name}_merged"]
            same = (sent == came).fillna(False).astype(bool) | (sent.isna() & came.isna())
            differs |= ~same
    return _columns(both[differs].drop_duplicates(_KEY), [*_KEY, "ssid"])


def _repeated(seen: list[tuple[int, Merged, bool]]) -> pd.DataFrame:
    times: dict[tuple[int, Merged, bool], int] = {}
    for one in seen:
        times[one] = times.get(one, 0) + 1
    rows = [(one.ssid, one.fragment, n) for (_, one, _), n in times.items() if n > 1]
    return pd.DataFrame(rows, columns=["ssid", "fragment", "times"])


def _apart(parts: pd.DataFrame) -> pd.DataFrame:
    firsts = parts[parts["fragment"] == 0]
    return firsts[firsts.duplicated("ssid")].drop(columns="rejected").reset_index(drop=True)
