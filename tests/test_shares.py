"""What a micro-batch reads, shared out among partitions and among tasks."""

from __future__ import annotations

from workbook.sources.assigned import PER_TASK, in_tasks, shared
from workbook.sources.kafka_reader import Range


def test_without_a_limit_all_is_read() -> None:
    assert shared({"0": 3, "1": 0}, {"0": 9, "1": 0}, None) == {"0": 9, "1": 0}
    assert shared({"0": 3, "1": 0}, {"0": 9, "1": 4}, 10) == {"0": 9, "1": 4}


def test_a_partition_that_has_less_leaves_its_share_to_the_others() -> None:
    ends = shared({"0": 0, "1": 50, "2": 0}, {"0": 1000, "1": 60, "2": 500}, 300)
    assert ends == {"0": 145, "1": 60, "2": 145}


def test_with_fewer_offsets_than_partitions_none_starves() -> None:
    begins = {str(number): 0 for number in range(5)}
    assert shared(begins, dict.fromkeys(begins, 7), 2) == dict.fromkeys(begins, 1)


def _ranges(*sizes: int) -> list[Range]:
    return [Range("t", number, 100, 100 + size) for number, size in enumerate(sizes)]


def test_small_ranges_are_one_task_however_many_they_are() -> None:
    [only] = in_tasks(_ranges(*[3] * 50), 8)
    assert len(only) == 50
    assert in_tasks([], 8) == []


def test_large_ranges_are_spread_evenly() -> None:
    parts = in_tasks(_ranges(*(n * PER_TASK for n in (1, 5, 1, 1, 2))), 2)
    assert [sum(each.end - each.begin for each in part) for part in parts] == [50_000, 50_000]
