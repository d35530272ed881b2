"""Who the users are, by demographics: a compacted topic with the newest record of each user."""

from workbook.streams.events.fields import Event

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


class Viewer(Event, frozen=True):
    """The traits of a user, whose number is the record's key, in decimal digits.

    A record without a value (a tombstone) erases the user from the table.
    """

    age_group: str
    gender: str
    region: str
