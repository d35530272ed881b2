"""Chapter 21: The changes of an update."""

from collections.abc import Iterator
from functools import wraps
from itertools import islice

from workbook.classroom.exercise import case, exercise, wrong


def changes(old, new):
    if old == new:
        return
    for sign, row in ((-1, old), (1, new)):
        if row is not None and row["exchange"] in ("NYSE", "NASDAQ"):
            yield row["client"], sign, row


def us(row):
    return row if row is not None and row["exchange"] in ("NYSE", "NASDAQ") else None


def filtered_first(old, new):
    before, after = us(old), us(new)
    removed = [(before["client"], -1, before)] if before else []
    return () if before == after else (*removed, *([(after["client"], 1, after)] if after else []))


def emitting(same=lambda old, new: old == new, goes=us, comes=us, order=(-1, 1)):
    """Make an answer of its parts; with the defaults it's right."""

    def answer(old, new):
        rows = {-1: goes(old), 1: comes(new)}
        told = [(rows[sign]["client"], sign, rows[sign]) for sign in order if rows[sign]]
        return [] if same(old, new) else told

    return answer


def equal_but_for(left_out):
    """Compare the other fields of the two rows only."""

    def same(old, new):
        if old is None or new is None:
            return old == new
        return all(old[name] == new[name] for name in old if name != left_out)

    return emitting(same)


def of_the_new_client(old, new):
    told = filtered_first(old, new)
    return [(new["client"] if new else client, sign, row) for client, sign, row in told]


def only_by_tombstone(old, new):
    return [told for told in filtered_first(old, new) if told[1] > 0 or new is None]


def listed(answer):
    """Collect what an answer yields: a list, a tuple and a generator are all right."""

    @wraps(answer)  # so that a card finds the line of an error
    def call(old, new):
        given = answer(old, new)
        return list(islice(given, 99)) if isinstance(given, (tuple, Iterator)) else given

    return call


def held(client, ticker, amount, exchange="NASDAQ"):
    return {"client": client, "ticker": ticker, "amount": amount, "exchange": exchange}


ADA, MORE, BO = held("Ada", "AAPL", 10), held("Ada", "AAPL", 20), held("Bo", "AAPL", 10)
ABROAD, ABROAD_TOO = held("Ada", "SAP", 7, "XETRA"), held("Bo", "BP", 3, "LSE")
NYSE = held("Ada", "IBM", 5, "NYSE")
EXCHANGES = ("NYSE", "NASDAQ", "NYSE", "NASDAQ", "XETRA", "LSE", "NASDAQ Riga", "NY", "")


def draw(random, size):
    rows = [held(random.choice(("Ida", "US")), random.choice("VW"), random.randrange(3),
                 random.choice(EXCHANGES)) for _ in range(2)]  # fmt: skip
    old, new = (random.choice((row, row, row, None)) for row in rows)
    return old, dict(old) if old and size % 5 == 0 else new


changes_of_an_update = exercise(
    changes,
    name="The changes of an update",
    task="Write the changes that an update of a position emits to the groups by client. `old` is "
    "the row before, `new` the row after; each is a dictionary with `client`, `ticker`, `amount` "
    "and `exchange`, or `None` where there is no row. Give triples `(client, sign, row)` in the "
    "order in which they are to be applied, in a list or by `yield`: sign `-1` for a row that "
    "goes, `+1` for one that comes. Only rows of a US exchange, `NYSE` or `NASDAQ`, are in a "
    "group. A record that came twice, with the row as it was, emits nothing.\n\n"
    "From Ada to Bo: `[('Ada', -1, old), ('Bo', +1, new)]`. Ten more for Ada: `[('Ada', -1, old), "
    "('Ada', +1, new)]`. Sold: `[('Ada', -1, old)]`.",
    cases=[
        case("A new position: there is only the new row.", None, ADA),
        case("A new position, at the other US exchange.", None, NYSE),
        case("A tombstone: the old row goes, and only it knows the client.", ADA, None),
        case("The position moves: it leaves Ada before it comes to Bo.", ADA, BO),
        case("The position moves: it leaves Bo before it comes to Ada.", BO, ADA),
        case("The client stays, and the row does not: the old one goes, the new one comes.",
             ADA, MORE),
        case("The amount is smaller now, so it's another row.", MORE, ADA),
        case("The same row came again. Nothing has changed.", ADA, dict(ADA)),
        case("It isn't a US share any more. For the groups that is a removal.", ADA, ABROAD),
        case("It has become a US share. The old row was in no group, so nothing is taken out.",
             ABROAD, NYSE),
        case("Neither row is a US share: no group changes.", ABROAD, ABROAD_TOO),
        case("The old row was in no group.", ABROAD, None),
        case("A tombstone for a position that was not there.", None, None),
        case('The exchange is "NY", which is neither "NYSE" nor "NASDAQ".',
             None, held("Ada", "AAPL", 10, "NY")),
        case('The exchange is "NASDAQ Riga": the whole name has to be "NYSE" or "NASDAQ".',
             None, held("Ada", "AAPL", 10, "NASDAQ Riga")),
        *(case(f"Only the {name} has changed, and so it's another row: the old one goes, the new "
               "one comes.", NYSE, {**NYSE, name: value})
          for name, value in (("ticker", "KO"), ("exchange", "NASDAQ"), ("client", "Bo"))),
    ],
    draw=draw,
    rehearse=listed,
    right=[filtered_first, emitting(), lambda old, new: list(changes(old, new))],
    wrong=[
        wrong("The new row is added before the old one is removed. With the same client the "
              "removal then takes out what has just come in: remove first.",
              emitting(order=(1, -1))),
        *(wrong(f"It compares rows without their {name}. A row that differs there alone is another "
                "row: compare whole rows, `old == new`.", equal_but_for(name))
          for name in ("client", "ticker", "amount", "exchange")),
        wrong("It looks at no exchange: SAP in Frankfurt isn't a US share. Both rows have to be "
              "asked.", emitting(goes=lambda row: row, comes=lambda row: row)),
        wrong("It asks the new row for its exchange, and not the old one. A row that was in no "
              "group cannot be removed from one.", emitting(goes=lambda row: row)),
        wrong("It asks the old row for its exchange, and not the new one. A share of another "
              "country enters a group.", emitting(comes=lambda row: row)),
        wrong("The removal names the client of the new row. The position leaves the client who had "
              "it: the old row knows.", of_the_new_client),
        wrong("It removes by a tombstone only. An update takes the old row out too, or a position "
              "that moves is with both clients.", only_by_tombstone),
        wrong("A record that came twice becomes a -1 and a +1. If the row is the same, nothing has "
              "changed.", emitting(same=lambda old, new: False)),
    ],
    hints=(
        "There are two rows, and each may be missing. What becomes of the old one? What of the "
        "new one? Which goes first?",
        "Handle the two by themselves, with the same two questions: is there a row, and is it a US "
        "share? Each row brings its own client. Before all that, one comparison.",
        "Walk over `(-1, old)` and `(1, new)`; keep those whose row is there and whose exchange is "
        "one of the two.",
    ),
    discussion='No case is asked for by name: not "moved", not "closed", not "became a US '
    'share". Old row out, new row in, and each row brings its own client. The filter looks at the '
    "old row, too: only so a position that leaves the US exchanges leaves its group.\n\n"
    "The two triples may go to different places: Ada's group may be on another machine than Bo's. "
    "Then nothing keeps them together, and for a moment the position is with neither of them.",
)  # fmt: skip
