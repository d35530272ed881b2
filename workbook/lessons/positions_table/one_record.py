"""Chapter 20: One record."""

from dataclasses import dataclass
from functools import wraps

from workbook.classroom.exercise import case, exercise, wrong


def next_table(table, key, value):
    after = dict(table)
    if value is None:
        after.pop(key, None)
    else:
        after[key] = value
    return after


def by_comprehension(table, key, value):
    others = {k: row for k, row in table.items() if k != key}
    return others if value is None else {**others, key: value}


@dataclass(frozen=True)
class TheVeryTable:
    """Stands in for a table that was returned without a copy."""

    def __repr__(self):
        return "the very dictionary that was given"


def marked(answer):
    """Mark a value that is the table which the answer was given."""

    @wraps(answer)
    def step(table, key, value):
        after = answer(table, key, value)
        return TheVeryTable() if after is table else after

    return step


def on_tombstone(close):
    """Make an answer that sets rows rightly, and does this for a tombstone."""
    return lambda table, key, value: {**table, key: value} if value else close(table, key)


def on_row(put):
    """Make an answer that treats tombstones rightly, and puts this row into the table."""
    return lambda table, key, value: next_table(table, key, value and put(table, key, value))


def must_be_there(table, key):
    after = dict(table)
    del after[key]
    return after


def held(client, ticker, amount, **more):
    return {"client": client, "ticker": ticker, "amount": amount, **more}


BOB, ALICE, CAROL = held("Bob", "AAPL", 20), held("Alice", "SAP", 5), held("Carol", "IBM", 7)


def draw(random, size):
    def row():
        client, ticker = random.choice(("Bob", "Ida")), random.choice(("SAP", "KO"))
        return held(client, ticker, random.randrange(3))

    keys = [random.choice(("p", "", "Bob", "1")) + str(random.randrange(12)) for _ in range(size)]
    table = {key: row() for key in keys}
    known = random.choice(keys or ["p1"])
    key = random.choice((known[:1] + known[1:], "p9", "", "client"))
    return table, key, random.choice((None, row(), table.get(key)))


one_record = exercise(
    next_table,
    rehearse=marked,
    name="One record",
    task="Write the step that applies one record to the table. The table is a dictionary from "
    "position id to row. The record has a key, which is the position id, and a value. The value is "
    "the whole new row, or `None` (a tombstone) if the position was closed. Return the table after "
    "the record as a new dictionary.\n\n"
    "With `table = {'p1': bob}`:\n\n"
    "- key `'p2'` with `alice` gives `{'p1': bob, 'p2': alice}`;\n"
    "- key `'p1'` with `alice` gives `{'p1': alice}`;\n"
    "- key `'p1'` with `None` gives `{}`;\n"
    "- key `'p9'` with `None` gives `{'p1': bob}`, because there is no such position to close.",
    cases=[
        case("The table is empty. The record adds its first row, of key `p1`.", {}, "p1", BOB),
        case("`p2` is another position. The row of `p1` stays as it is.", {"p1": BOB}, "p2", ALICE),
        case("Bob had 20 and has 15 now. The new row replaces the old one.",
             {"p1": BOB, "p2": ALICE}, "p1", held("Bob", "AAPL", 15)),
        case("Bob has 0 now. Only None closes a position, so the row stays.",
             {"p1": BOB}, "p1", held("Bob", "AAPL", 0)),
        case("The position moves from Bob to Alice. Its id is still `p1`.",
             {"p1": BOB, "p2": ALICE}, "p1", held("Alice", "AAPL", 20)),
        case("The new row has no note. It's the whole row, so the note is gone.",
             {"p1": held("Bob", "AAPL", 20, note="joint account")}, "p1", BOB),
        case("A tombstone for `p2` removes that row. The others stay.",
             {"p1": BOB, "p2": ALICE, "p3": CAROL}, "p2", None),
        case("Bob has three positions, and two of their rows are equal. Only `p1` is closed.",
             {"p1": BOB, "p2": BOB, "p3": held("Bob", "KO", 3)}, "p1", None),
        case("`p1` is closed. `p10` and `xp1` are other positions.",
             {"p1": BOB, "p10": ALICE, "xp1": CAROL}, "p1", None),
        case("The key equals one in the table, though it's another text object. `==` compares "
             "texts, `is` compares objects.", {"p1": BOB, "p2": ALICE}, "".join("p2"), None),
        case("There's no `p9` to close. The new dictionary has the same rows.",
             {"p1": BOB, "p2": ALICE}, "p9", None),
        case("The table is empty, and the new dictionary is, too.", {}, "p1", None),
    ],
    draw=draw,
    right=[by_comprehension],
    wrong=[
        wrong("The key of a closed position stays in the table, with None or an empty row. Remove "
              "the key. Otherwise everybody who reads the table gets rows without values.",
              lambda table, key, value: {**table, key: value},
              lambda table, key, value: {**table, key: value or {}}),
        wrong("A tombstone changes nothing, so a closed position stays in the table.",
              on_tombstone(lambda table, key: table), on_tombstone(lambda table, key: {**table})),
        wrong("A tombstone removes rows with other keys. Only the key says which position was "
              "closed.", on_tombstone(lambda table, key: {}),
              on_tombstone(lambda table, key: {
                  k: row for k, row in table.items() if row != table.get(key)})),
        wrong("It fails if there is no such position to close. Such tombstones exist, for example "
              "when one is delivered twice. They change nothing.", on_tombstone(must_be_there)),
        wrong("It adds the new amount to the old one, as if the record were an event. The row "
              "states how much there is now, not how much more.",
              on_row(lambda table, key, value: {
                  **value, "amount": value["amount"] + table.get(key, {"amount": 0})["amount"]})),
        wrong("It keeps one row per client. The key of the table is the position id, and a client "
              "may have many positions.",
              lambda table, key, value: next_table(
                  table, value["client"] if value else key, value)),
    ],
    hints=(
        "There are two kinds of records. What does each of them do to its key?",
        "Copy the table first. Then either set the key or remove it. Removing must also work if "
        "the key isn't there.",
        "`after = dict(table)` is a copy, and `after.pop(key, None)` removes a key if it is "
        "there.",
    ),
    discussion="A table is a fold, like the count of chapter 01, with a dictionary instead of a "
    "number. Applying a record twice gives the same table as applying it once, so at-least-once "
    "delivery is good enough. For a count it isn't.\n\n"
    "The price is the history: the table doesn't know who held `p1` an hour ago, nor that a closed "
    "`p2` ever existed. (Copying five rows for each record is fine; a program that keeps millions "
    "of rows changes its table in place.)",
)  # fmt: skip
