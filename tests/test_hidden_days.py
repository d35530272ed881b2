"""The days of chapter 60: each shows its own character, and none of the others."""

import json

import pandas as pd
import pytest

from workbook.streams.generators.hidden import (
    DAY_MS,
    HOUR_MS,
    MINUTE_MS,
    PARTITIONS,
    READINGS,
    Character,
    HiddenDay,
)

ENDING = 1_790_000_000_000
SEEDS = (0, 1, 2, 3, 6, 8, 11, 12, 14, 16, 19, 21)


def records(seed: int) -> pd.DataFrame:
    found = HiddenDay(seed).block(ENDING).to_pandas()
    values = pd.DataFrame([json.loads(value) for value in found["value"]])
    assert [key.decode() for key in found["key"]] == [*values["device"]]
    return found.assign(device=values["device"], at=values["at"])


def signs(day: pd.DataFrame) -> set[Character]:
    """Which characters the queries of the chapter would see."""
    partitions, phones = day.groupby("partition"), day.groupby("device")
    found = {
        Character.NIGHT: partitions["arrival"].diff().max() > 6 * HOUR_MS,
        Character.CLOCK: (day["arrival"] - day["at"]).groupby(day["device"]).median().abs().max()
        > HOUR_MS,
        Character.REPLAY: day["value"].duplicated().sum() > 500,
        Character.GIANT: phones.size().max() > len(day) / 3,
        Character.HASHES: (phones["partition"].nunique() > 1).sum() > 20,
    }
    late = partitions["at"].cummax() - day["at"]
    p99 = late.groupby(day["partition"]).quantile(0.99)
    minutes = p99.between(2 * MINUTE_MS, 15 * MINUTE_MS).all()
    seconds = p99.lt(MINUTE_MS).all()
    assert seconds or minutes or found[Character.CLOCK] or found[Character.REPLAY]
    return {name for name, seen in {**found, Character.TUNNELS: minutes}.items() if seen}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_day_shows_its_character_and_no_other(seed: int) -> None:
    day = records(seed)
    assert signs(day) == {HiddenDay(seed).character}
    assert day["arrival"].is_monotonic_increasing
    assert day["arrival"].iloc[-1] == ENDING
    assert day["arrival"].iloc[0] > ENDING - DAY_MS - HOUR_MS
    assert set(day["partition"]) == set(range(PARTITIONS))
    assert abs(len(day) - READINGS) < 0.15 * READINGS
    assert day.equals(records(seed))


def test_every_character_is_drawn() -> None:
    assert {HiddenDay(seed).character for seed in SEEDS} == set(Character)
