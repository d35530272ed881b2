"""Who the users are, by demographics: a compacted topic with the newest record of each user."""

from dataclasses import dataclass

from workbook.streams.events.fields import compact_json

TRAITS = {
    "age_group": ("under 25", "25-44", "45-64", "65 and over"),
    "gender": ("female", "male", "other"),
    "region": (
        *("Northern Norway", "Trøndelag", "Western Norway"),
        *("Southern Norway", "Eastern Norway"),
    ),
}
"""The values of each trait."""

UNKNOWN = "unknown"
"""The value of a trait that isn't among these, and of all traits of a user without a record."""

BASE = 8
"""A trait has fewer values than this, so a digit of this base says which one it is; 0: unknown."""

PLACES = {trait: BASE**place for place, trait in enumerate(TRAITS)}
"""What a digit is worth in the code of a user's three traits."""


@dataclass(frozen=True, slots=True)
class Viewer:
    """The traits of a user, whose number is the record's key, in decimal digits.

    A record without a value (a tombstone) erases the user from the table.
    """

    age_group: str
    gender: str
    region: str

    def to_json(self) -> bytes:
        """Encode the traits as a Kafka record value."""
        return compact_json({trait: getattr(self, trait) for trait in TRAITS}).encode()
