"""Answers to "The changes of an update", right and wrong, as learners may write them."""

from __future__ import annotations

from proof import Catalogue

from workbook.events.positions import US
from workbook.lessons.us_share_holders.changes_of_an_update_mistakes import MISTAKES


def us(row):
    return row is not None and row["exchange"] in ("NYSE", "NASDAQ")


def two_ifs(old, new):
    told = []
    if old != new:
        if us(old):
            told.append((old["client"], -1, old))
        if us(new):
            told.append((new["client"], 1, new))
    return told


def filtered_first(old, new):
    """A row that is no US share is as good as none."""
    before, after = (row if row and row["exchange"] in US else None for row in (old, new))
    removed = [(before["client"], -1, before)] if before else []
    added = [(after["client"], 1, after)] if after else []
    return () if before == after else (*removed, *added)


def yields(old, new):
    if old == new:
        return
    if us(old):
        yield old["client"], -1, old
    if us(new):
        yield new["client"], 1, new


def equal_in(*names):
    """The function with a comparison of some fields."""

    def answer(old, new):
        same = old == new if None in (old, new) else all(old[n] == new[n] for n in names)
        return [] if same else two_changes(old, new)

    return answer


def two_changes(old, new):
    removed = [(old["client"], -1, old)] if us(old) else []
    return removed + ([(new["client"], 1, new)] if us(new) else [])


def changed(change):
    return lambda old, new: [change(*told) for told in two_ifs(old, new)]


def needs_both(old, new):
    if old["client"] == new["client"] and old == new:
        return []
    return two_ifs(old, new)


def prints_changes(old, new):
    print(two_ifs(old, new))


def only_growth(old, new):
    """An amount that becomes smaller is taken for nothing new."""
    if old and new and {**old, "amount": 0} == {**new, "amount": 0}:
        return two_ifs(old, new) if old["amount"] < new["amount"] else []
    return two_ifs(old, new)


def where(us_exchange):
    """Both rows are asked this of their exchange."""

    def answer(old, new):
        before, after = (r if r and us_exchange(r["exchange"]) else None for r in (old, new))
        if old == new:
            return []
        removed = [(before["client"], -1, before)] if before else []
        return removed + ([(after["client"], 1, after)] if after else [])

    return answer


catalogue = Catalogue(
    right=[two_ifs, filtered_first, yields, where(lambda name: name in US)],
    wrong=[
        (lambda old, new: two_ifs(old, new)[:1], "leaves Ada before it comes to Bo"),
        (needs_both, "raised TypeError"),
        (
            lambda old, new: [
                (c, s, new or row if s < 0 else row) for c, s, row in two_ifs(old, new)
            ],
            "Its -1 carries the new row",
        ),
        (prints_changes, "prints the value"),
        (changed(lambda client, sign, row: (client, sign * 1.0, row)), "of type float"),
        (lambda update: [], "Keep the parameters"),
        ([("Ada", 1)], "without parentheses"),
        (equal_in("client", "amount", "exchange"), "without their ticker."),
        (equal_in("client", "amount", "ticker"), "without their exchange."),
        (equal_in("client", "amount"), "without their ticker and exchange."),
        (equal_in("ticker", "amount", "exchange"), "without their client."),
        (equal_in("ticker", "exchange"), "without their client and amount."),
    ],
    shortcuts=[
        (only_growth, "Only the amount has changed"),
        (where(lambda name: name in "NYSE NASDAQ"), 'exchange is "NY"'),
        (where(lambda name: "NYSE" in name or "NASDAQ" in name), 'exchange is "NASDAQ Riga"'),
        (where(lambda name: name[:2] in ("NY", "NA")), 'exchange is "NASDAQ Riga"'),
        (lambda old, new: [] if old is new else two_changes(old, new), "came twice"),
        (where(lambda name: name not in ("XETRA", "LSE")), "NASDAQ Riga"),
        (where(lambda name: name.startswith("N")), "NASDAQ Riga"),
    ],
    models=MISTAKES,
)
