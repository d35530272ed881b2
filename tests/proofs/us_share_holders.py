"""Chapter 11's exercises: wrong and right answers as learners may write them."""

from __future__ import annotations

from collections import Counter

from proof import Catalogue

from workbook.events.positions import US
from workbook.exercises.chapters.us_share_holders.wrong_models import CHANGES as CHANGES_MODELS
from workbook.exercises.chapters.us_share_holders.wrong_models import SUBTRACT as SUBTRACT_MODELS
from workbook.exercises.chapters.us_share_holders.wrong_models import TICKERS as TICKERS_MODELS

# --- what an update tells -----------------------------------------------------------------------


def us(row):
    return row is not None and row["exchange"] in ("NYSE", "NASDAQ")


def two_ifs(old, new):
    told = []
    if old != new:
        if us(old):
            told.append((old["client"], "remove", old))
        if us(new):
            told.append((new["client"], "add", new))
    return told


def filtered_first(old, new):
    """A row that is no US share is as good as none."""
    before, after = (row if row and row["exchange"] in US else None for row in (old, new))
    removed = [(before["client"], "remove", before)] if before else []
    added = [(after["client"], "add", after)] if after else []
    return () if before == after else (*removed, *added)


def yields(old, new):
    if old == new:
        return
    if us(old):
        yield old["client"], "remove", old
    if us(new):
        yield new["client"], "add", new


def told_by(same=lambda old, new: old == new, removed=us, added=us, first="remove"):
    """The function with its usual slips."""

    def answer(old, new):
        if same(old, new):
            return []
        told = [(old["client"], "remove", old)] if old and removed(old) else []
        told += [(new["client"], "add", new)] if new and added(new) else []
        return told if first == "remove" else told[::-1]

    return answer


def equal_in(*names):
    return lambda old, new: (
        old == new if old is None or new is None else all(old[n] == new[n] for n in names)
    )


def anything(row):
    return True


def changed(change):
    return lambda old, new: [change(*told) for told in two_ifs(old, new)]


def only_adds(old, new):
    return [told for told in two_ifs(old, new) if told[1] == "add"]


def removes_closed_ones(old, new):
    return two_ifs(old, new) if new is None else only_adds(old, new)


def adds_for_the_same(old, new):
    told = two_ifs(old, new)
    same = us(old) and us(new) and old["client"] == new["client"]
    return told[1:] if same else told


def says_update(old, new):
    if us(old) and us(new) and old["client"] == new["client"] and old != new:
        return [(new["client"], "update", new)]
    return two_ifs(old, new)


def wrong_client(old, new):
    told = []
    if old != new and us(old):
        told.append(((new or old)["client"], "remove", old))
    return told + only_adds(old, new)


def wrong_row(old, new):
    return [(client, change, new) for client, change, _ in two_ifs(old, new)]


def only_if_new_is_us(old, new):
    return two_ifs(old, new) if new is None or us(new) else []


def only_if_old_was_us(old, new):
    return two_ifs(old, new) if old is None or us(old) else []


def begins_with_n(row):
    return row["exchange"].startswith("N")


def not_in_europe(row):
    return row["exchange"] not in ("XETRA", "LSE")


def nasdaq(row):
    return row["exchange"] == "NASDAQ"


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

    def asked(row):
        return us_exchange(row["exchange"])

    return told_by(removed=asked, added=asked)


CHANGES = Catalogue(
    right=[two_ifs, filtered_first, yields, told_by()],
    wrong=[
        (told_by(first="add"), "added before the old one"),
        (told_by(same=equal_in("client")), "a sum of amounts"),
        (told_by(same=equal_in("client", "ticker", "exchange")), "amount alone"),
        (adds_for_the_same, "it only adds"),
        (says_update, 'called "update"'),
        (only_adds, "Nothing is ever removed"),
        (removes_closed_ones, "by a tombstone only"),
        (told_by(same=lambda old, new: False), "came twice"),
        (told_by(removed=anything, added=anything), "It looks at no exchange"),
        (told_by(removed=anything), "asks the new row"),
        (told_by(added=anything), "asks the old row"),
        (only_if_new_is_us, "But the old one was"),
        (only_if_old_was_us, "But the new one is"),
        (told_by(removed=nasdaq, added=nasdaq), "Only NASDAQ"),
        (wrong_client, "names the client of the new row"),
        (wrong_row, "carries the new row"),
        (
            changed(lambda c, what, row: (c, "add" if what == "remove" else "remove", row)),
            "words are swapped",
        ),
        (changed(lambda client, what, row: (what, client, row)), "client comes first"),
        (changed(lambda client, what, row: (client, what)), "row is missing"),
        (changed(lambda *told: [*told]), "each triple is a list"),
        (lambda old, new: [two_ifs(old, new)], "one list with all triples"),
        (lambda old, new: [], "never tells anything"),
        (lambda old, new: two_ifs(old, new)[:1], "leaves Ada before it comes to Bo"),
        (needs_both, "raised TypeError"),
        (prints_changes, "prints the value"),
        (lambda update: [], "Keep the parameters"),
        ([("Ada", "add")], "without parentheses"),
        (told_by(same=equal_in("client", "amount", "exchange")), "without their ticker."),
        (told_by(same=equal_in("client", "amount", "ticker")), "without their exchange."),
        (told_by(same=equal_in("client", "amount")), "without their ticker and exchange."),
        (told_by(same=equal_in("ticker", "amount", "exchange")), "without their client."),
    ],
    shortcuts=[
        (only_growth, "Only the amount has changed"),
        (where(lambda name: name in "NYSE NASDAQ"), 'exchange is "NY"'),
        (where(lambda name: "NYSE" in name or "NASDAQ" in name), 'exchange is "NASDAQ Riga"'),
        (where(lambda name: name[:2] in ("NY", "NA")), 'exchange is "NASDAQ Riga"'),
        (told_by(same=lambda old, new: old is new), "came twice"),
        (told_by(removed=not_in_europe, added=not_in_europe), "NASDAQ Riga"),
        (told_by(removed=begins_with_n, added=begins_with_n), "NASDAQ Riga"),
    ],
    models=CHANGES_MODELS,
)

# --- a set with counts --------------------------------------------------------------------------


def with_a_list(changes):
    held = []
    for change, ticker in changes:
        held.append(ticker) if change == "add" else held.remove(ticker)
    return set(held)


def with_two_counters(changes):
    came = Counter(ticker for change, ticker in changes if change == "add")
    went = Counter(ticker for change, ticker in changes if change == "remove")
    return frozenset(came - went)


def with_deletes(changes):
    counts = {}
    for change, ticker in changes:
        counts[ticker] = counts.get(ticker, 0) + (1 if change == "add" else -1)
        if not counts[ticker]:
            del counts[ticker]
    return set(counts)


def plain_set(changes):
    held = set()
    for change, ticker in changes:
        if change == "add":
            held.add(ticker)
        else:
            held.discard(ticker)
    return held


def of(changes, word):
    return {ticker for change, ticker in changes if change == word}


def toggles(changes):
    held = set()
    for _, ticker in changes:
        held ^= {ticker}
    return held


def counted(changes):
    counts = Counter()
    for change, ticker in changes:
        counts[ticker] += 1 if change == "add" else -1
    return counts


def returns_inside(changes):
    held = set()
    for change, ticker in changes:
        if change == "add":
            held.add(ticker)
        return held
    return held


def compares_symbols(changes):
    return {ticker for change, ticker in changes if change == "+"}


def prints_tickers(changes):
    print(with_a_list(changes))


def counts_up_to(most):
    def answer(changes):
        counts = Counter()
        for change, ticker in changes:
            after = counts[ticker] + (1 if change == "add" else -1)
            counts[ticker] = min(most, after)
        return {ticker for ticker in counts if counts[ticker] > 0}

    return answer


TICKERS = Catalogue(
    right=[with_a_list, with_two_counters, with_deletes],
    wrong=[
        (plain_set, "a plain set, or a note of the last change"),
        (lambda changes: set(counted(changes)), "added at any time"),
        (lambda changes: of(changes, "add") - of(changes, "remove"), "never comes back"),
        (toggles, "throws out the first"),
        (lambda changes: with_a_list(changes[:3]), "Both positions in AAPL"),
        (lambda changes: {t for t, n in counted(changes).items() if n > 1}, "One is enough"),
        (lambda changes, held: held, "Keep the parameters"),
        (lambda changes: {t: n for t, n in counted(changes).items() if n}, "returns the counts"),
        (lambda changes: sorted(with_a_list(changes)), "returns a list"),
        (lambda changes: len(with_a_list(changes)), "how many tickers"),
        (returns_inside, "first change only"),
        (compares_symbols, "always empty"),
        (lambda changes: with_a_list(reversed(changes)), "raised ValueError"),
        (prints_tickers, "prints the value"),
        ({"AAPL"}, "without parentheses"),
    ],
    shortcuts=[
        (counts_up_to(3), "Of twelve positions"),
        (counts_up_to(5), "Of twelve positions"),
        (lambda changes: with_a_list(changes) & {"AAPL", "KO", "IBM"}, "drawn by chance"),
        (lambda changes: with_a_list(changes[:8]), "drawn by chance"),
    ],
    models=TICKERS_MODELS,
)

# --- a subtractor -------------------------------------------------------------------------------


def copies(shares, row):
    left = dict(shares)
    left[row["ticker"]] -= row["amount"]
    if not left[row["ticker"]]:
        del left[row["ticker"]]
    return left


def with_counters(shares, row):
    return Counter(shares) - Counter({row["ticker"]: row["amount"]})


def rest_and_others(shares, row):
    ticker, amount = row["ticker"], row["amount"]
    others = {t: n for t, n in shares.items() if t != ticker}
    left = shares[ticker] - amount
    return others | {ticker: left} if left else others


def in_place(shares, row):
    shares[row["ticker"]] -= row["amount"]
    if shares[row["ticker"]] == 0:
        shares.pop(row["ticker"])
    return shares


def in_place_without_return(shares, row):
    shares[row["ticker"]] -= row["amount"]


def keeps_zero(shares, row):
    return {**shares, row["ticker"]: shares[row["ticker"]] - row["amount"]}


def whole_ticker(shares, row):
    left = dict(shares)
    left.pop(row["ticker"])
    return left


def set_to(value):
    """The ticker set to something else."""
    return lambda shares, row: {**shares, row["ticker"]: value(shares[row["ticker"]], row)}


def one_by_one(shares, row):
    left = {**shares, row["ticker"]: shares[row["ticker"]] - 1}
    return {ticker: amount for ticker, amount in left.items() if amount}


def from_all(shares, row):
    left = {ticker: amount - row["amount"] for ticker, amount in shares.items()}
    return {ticker: amount for ticker, amount in left.items() if amount > 0}


def more_than_one(shares, row):
    return {ticker: amount for ticker, amount in keeps_zero(shares, row).items() if amount > 1}


def equal_to_row(shares, row):
    left = keeps_zero(shares, row)
    return {ticker: n for ticker, n in left.items() if n > 0 and n != row["amount"]}


def not_equal_to_row(shares, row):
    left = keeps_zero(shares, row)
    return {ticker: n for ticker, n in left.items() if n != row["amount"]}


def only_the_ticker(shares, row):
    left = shares[row["ticker"]] - row["amount"]
    return {row["ticker"]: left} if left else {}


def by_symbol(shares, row):
    return copies(shares, {"ticker": row["symbol"], "amount": row["amount"]})


def prints_shares(shares, row):
    print(copies(shares, row))


SUBTRACT = Catalogue(
    right=[copies, with_counters, rest_and_others],
    wrong=[
        (keeps_zero, "stays with 0"),
        (whole_ticker, "goes with all its shares"),
        (set_to(lambda held, row: row["amount"]), "replaces the number"),
        (set_to(lambda held, row: held + row["amount"]), "It adds"),
        (set_to(lambda held, row: row["amount"] - held), "turned round"),
        (one_by_one, "one share"),
        (from_all, "out of every ticker"),
        (more_than_one, "although one share"),
        (not_equal_to_row, "whose number is the amount"),
        (only_the_ticker, "other tickers are lost"),
        (lambda shares, row: shares[row["ticker"]] - row["amount"], "as a number"),
        (lambda shares, row: copies(shares, row) or None, "returns None when nothing"),
        (lambda shares, row: list(copies(shares, row).items()), "list of pairs"),
        (lambda shares, row: {**shares}, "Nothing is taken out"),
        (in_place, "changes the input"),
        (in_place_without_return, "no `return` that is reached"),
        (equal_to_row, "IBM has as many shares"),
        (by_symbol, "raised KeyError"),
        (prints_shares, "prints the value"),
        (lambda shares: shares, "Keep the parameters"),
        ({"AAPL": 20}, "without parentheses"),
        (lambda shares, row: {t: n / 1 for t, n in copies(shares, row).items()}, "of type float"),
    ],
    shortcuts=[
        (lambda shares, row: {t: min(n, 50) for t, n in copies(shares, row).items()}, "by chance"),
    ],
    models=SUBTRACT_MODELS,
)

catalogues = (
    CHANGES,
    TICKERS,
    SUBTRACT,
)
