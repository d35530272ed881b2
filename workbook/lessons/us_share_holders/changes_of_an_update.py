"""Chapter 21: The changes of an update."""

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


def of_the_new_client(old, new):
    told = filtered_first(old, new)
    return [(new["client"] if new else client, sign, row) for client, sign, row in told]


def only_by_tombstone(old, new):
    return [told for told in filtered_first(old, new) if told[1] > 0 or new is None]


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
    task="Write the function that returns the changes of one update. `old` is the row before the "
    "update, `new` is the row after it. Each is a dictionary with `client`, `ticker`, `amount` and "
    "`exchange`, or `None` if there is no row.\n\n"
    "- Return triples `(client, sign, row)`, as a list or by `yield`. The sign is `-1` for a row "
    "that leaves the client's group, and `+1` for a row that enters it. The `-1` comes first.\n"
    "- Only rows of a US exchange, `NYSE` or `NASDAQ`, are in a group.\n"
    "- If the row hasn't changed, the record was delivered twice: return no triples.\n\n"
    "From Ada to Bo: `[('Ada', -1, old), ('Bo', +1, new)]`. Ten more for Ada: `[('Ada', -1, old), "
    "('Ada', +1, new)]`. Sold: `[('Ada', -1, old)]`.",
    cases=[
        case("A new position: there is only the new row.", None, ADA),
        case("A tombstone: the old row leaves, and only the old row knows the client.", ADA, None),
        case("The position moves: it leaves Ada before it enters Bo's group.", ADA, BO),
        case("The client stays, but the row changes: the old row leaves, the new row enters.",
             ADA, MORE),
        case("The same row was delivered again. Nothing has changed.", ADA, dict(ADA)),
        case("It isn't a US share any more, so the old row leaves its group.", ADA, ABROAD),
        case("It has become a US share. The old row was in no group, so nothing leaves.",
             ABROAD, NYSE),
        case("The old row was in no group.", ABROAD, None),
        case('The exchange is "NY", which is neither "NYSE" nor "NASDAQ".',
             None, held("Ada", "AAPL", 10, "NY")),
        case('The exchange is "NASDAQ Riga": the whole name has to be "NYSE" or "NASDAQ".',
             None, held("Ada", "AAPL", 10, "NASDAQ Riga")),
        *(case(f"Only the {name} has changed, but that makes it another row: the old row leaves, "
               "the new row enters.", NYSE, {**NYSE, name: value})
          for name, value in (("ticker", "KO"), ("exchange", "NASDAQ"))),
    ],
    draw=draw,
    right=[filtered_first, emitting(), lambda old, new: list(changes(old, new))],
    wrong=[
        wrong("It adds the new row before it removes the old one. If the client stays the same, "
              "the removal may then undo the addition: remove first.",
              emitting(order=(1, -1))),
        wrong("It ignores the exchange, but SAP in Frankfurt isn't a US share. Check the exchange "
              "of both rows.", emitting(goes=lambda row: row, comes=lambda row: row)),
        wrong("It checks the exchange of the new row, but not of the old one. A row that was in "
              "no group can't be removed from a group.", emitting(goes=lambda row: row)),
        wrong("It checks the exchange of the old row, but not of the new one. A share of another "
              "country enters a group.", emitting(comes=lambda row: row)),
        wrong("The removal names the client of the new row. The position leaves the client of the "
              "old row.", of_the_new_client),
        wrong("It removes a row only if the position was closed. An update must remove the old "
              "row, too. Otherwise a position that moves would be with both clients.",
              only_by_tombstone),
        wrong("A record that is delivered twice gives a -1 and a +1. If the row is the same, "
              "nothing has changed.", emitting(same=lambda old, new: False)),
    ],
    hints=(
        "There are two rows, and each may be missing. What happens to the old row, and what to the "
        "new one? Which is first?",
        "Handle each row by itself, with the same two questions: is there a row, and is it a US "
        "share? Each row has its own client. Before all that, compare the two rows.",
        "Loop over `(-1, old)` and `(1, new)`. Keep a row if it exists and its exchange is one of "
        "the two.",
    ),
    discussion='The function handles no case by name, neither "moved" nor "closed" nor "became a '
    'US share". The old row leaves, the new row enters, and each row has its own client. The '
    "filter looks at the old row, too: only then does a position that leaves the US exchanges "
    "leave its group.\n\n"
    "The two triples may go to different machines: Ada's group may be on one, Bo's on another. "
    "Nothing keeps the two together, so for a moment neither client, or both, may have the "
    "position.",
)  # fmt: skip
