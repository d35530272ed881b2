"""What became of each second of a metrics topic, in numbers and in words."""

import numpy as np
import pandas as pd
import pytest

from workbook.streams.ledgers.seconds import SecondsVerdict, judge


def metrics(*emitted: tuple[int, list[int]]) -> pd.DataFrame:
    rows = [
        (second, None, len(ids), offset, 0, np.array(ids, dtype=np.int64))
        for offset, (second, ids) in enumerate(emitted)
    ]
    return pd.DataFrame(
        rows, columns=["second", "partition", "views", "offset", "timestamp", "event_ids"]
    )


def verdict_of(*emitted: tuple[int, list[int]]) -> SecondsVerdict:
    """Second 1 has the page views 1 to 4, second 2 has 5 and 6."""
    ids = [1, 2, 3, 4, 5, 6]
    seconds = [1, 1, 1, 1, 2, 2]
    expected = pd.DataFrame({"event_id": ids, "timestamp": [s * 1000 for s in seconds]})
    return judge(expected.assign(second=seconds), metrics(*emitted))


RIGHT = (2, [5, 6])


@pytest.mark.parametrize(
    ("emitted", "lost", "duplicated", "told", "meaning", "readers"),
    [
        ([[1, 2, 3, 4]], [], [], "4", "right", ("all right", "all right")),
        ([], [1, 2, 3, 4], [], "–", "never emitted: all lost", ("lost", "lost")),
        ([[3, 4]], [1, 2], [], "2", "emitted in part: 2 lost", ("lost", "lost")),
        ([[1, 2, 3, 4]] * 2, [], [1, 2, 3, 4], "4, 4", "the last value is right",
         ("all right", "duplicated")),
        ([[1, 2], [3, 4]], [1, 2], [], "2, 2", "2 lost; the parts add up", ("lost", "all right")),
        ([[1, 2, 3, 4], [4]], [1, 2, 3], [4], "4, 1", "3 lost; a reader that adds up counts 1",
         ("lost", "duplicated")),
        ([[1, 2], [2]], [1, 3, 4], [2], "2, 1", "3 lost; a reader that adds up counts 1",
         ("lost", "both")),
    ],
)  # fmt: skip
def test_the_verdict(emitted, lost, duplicated, told, meaning, readers) -> None:
    verdict = verdict_of(*((1, ids) for ids in emitted), RIGHT, (99, [77]))  # 99: not judged
    first = verdict.seconds.iloc[0]
    assert list(verdict.lost.event_id) == lost
    assert list(verdict.duplicated.event_id) == duplicated
    assert first.emitted == told
    assert meaning in first.meaning
    assert verdict.seconds.iloc[1].meaning == "right"
    assert list(verdict.counts.values()) == [len(lost), len(duplicated), 0]
    assert verdict.headline == f"{len(lost)} lost, {len(duplicated)} duplicated of 6 page views"
    assert (verdict.keeps_last, verdict.adds_up) == readers
    for text in (str(verdict), verdict._repr_html_()):
        assert meaning in text
        assert ("All 2 seconds" if told == "4" else "The other 1 of 2 seconds") in text
        assert ("A reader that adds up" in text) == (told != "4")


def test_the_table_has_what_tells_something_and_wraps() -> None:
    text = verdict_of((1, [3, 4]), RIGHT)._repr_html_()
    table = text[text.index("<table") : text.index("</table>")]
    names = [cell.split("</th>")[0].split(">")[1] for cell in table.split("<th")[2:]]
    assert names == ["second (UTC)", "expected", "emitted", "last", "meaning"]
    assert ">00:00:01<" in table
    assert "nowrap" not in text


def wrong_of(metrics_of_it: pd.DataFrame) -> SecondsVerdict:
    expected = pd.DataFrame({"event_id": [1, 2, 3], "timestamp": [1000, 1000, 3000]})
    return judge(expected.assign(second=[1, 1, 3]), metrics_of_it)


@pytest.mark.parametrize(
    ("emitted", "second"),
    [
        (metrics((1, [1, 2]), (3, [3])).assign(views=[7, 1]), 1),
        (metrics((1, [1, 2, 99]), (3, [3])), 1),
        (metrics((1, [1]), (2, [2]), (3, [3])), 2),
        (metrics((1, [1, 2]), (2, [77]), (3, [3])), 2),
        (metrics((1, [1, 2]), (2, []), (3, [3])).assign(views=[2, 5, 1]), 2),
    ],
    ids=["a wrong number", "an unknown event", "a moved event", "an invented second", "no events"],
)
def test_a_metric_that_is_not_what_its_events_come_to_is_miscounted(emitted, second) -> None:
    verdict = wrong_of(emitted)
    assert verdict.miscounted.second.to_list() == [second]
    assert "1 metrics miscounted" in verdict.headline
    assert verdict.keeps_last == verdict.adds_up == "wrong numbers"
    assert "miscounted" in str(verdict)
    assert f">00:00:0{second}<" in verdict._repr_html_()
    assert wrong_of(metrics((1, [1, 2]), (3, [3]))).counts["miscounted"] == 0
