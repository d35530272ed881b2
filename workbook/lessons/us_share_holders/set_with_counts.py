"""Chapter 21: A set with counts."""

from workbook.classroom.exercise import case, exercise, wrong


def count(held, row, sign):
    ticker = row["ticker"]
    others = {each: n for each, n in held.items() if each != ticker}
    left = held.get(ticker, 0) + sign
    return {**others, ticker: left} if left else others


def in_a_copy(held, row, sign):
    after = dict(held)
    after[row["ticker"]] = after.get(row["ticker"], 0) + sign
    if not after[row["ticker"]]:
        del after[row["ticker"]]
    return after


def counted(by=1, least=1):
    """Make an answer of its parts; with the defaults it's right."""

    def answer(held, row, sign):
        step = by(row) if callable(by) else by
        left = {**held, row["ticker"]: held.get(row["ticker"], 0) + sign * step}
        return {ticker: n for ticker, n in left.items() if n >= least}

    return answer


def others(held, row):
    return {ticker: n for ticker, n in held.items() if ticker != row["ticker"]}


def plain_set(held, row, sign):
    return {**held, row["ticker"]: 1} if sign > 0 else others(held, row)


def takes_all(held, row, sign):
    return in_a_copy(held, row, 1) if sign > 0 else others(held, row)


def only_known(held, row, sign):
    return in_a_copy(held, row, sign) if row["ticker"] in held else dict(held)


def position(ticker, amount=10):
    return {"client": "Ada", "ticker": ticker, "amount": amount, "exchange": "NASDAQ"}


def draw(random, size):
    names = random.sample(("V", "GE", "SAP", "GOOGL", "BRK.A", "v"), size % 5)
    held = {ticker: random.choice((1, 1, 2, 3, 7, 250)) for ticker in names}
    ticker = random.choice((*names, "F"))
    sign = random.choice((-1, 1)) if ticker in held else 1
    return held, position(ticker, random.choice((1, 2, 40))), sign


set_with_counts = exercise(
    count,
    name="A set with counts",
    task="Write the adder and the subtractor of a client's tickers in one function. `held` is a "
    "dictionary from ticker to the number of positions that have it. `row` is a position that "
    "comes (`sign` is `+1`) or goes (`-1`). Return a new dictionary, as it is afterwards; a ticker "
    "of which no position is left isn't in it. What goes has always come before.\n\n"
    "With AAPL in the row, `count({'AAPL': 2}, row, -1)` gives `{'AAPL': 1}`, and once more `{}`.",
    cases=[
        case("A second position in AAPL comes.", {"AAPL": 1}, position("AAPL"), 1),
        case("One of two positions in AAPL goes. The other is still there.",
             {"AAPL": 2, "IBM": 1}, position("AAPL"), -1),
        case("The last position in AAPL goes, and so does its entry.",
             {"AAPL": 1, "IBM": 3}, position("AAPL"), -1),
        case("The client's first position: `held` is still empty.", {}, position("KO"), 1),
        case("The client's last position goes: an empty dictionary is left.",
             {"KO": 1}, position("KO"), -1),
        case("The first position in KO comes.", {"IBM": 1}, position("KO"), 1),
        case("One position in KO goes, of three shares. Two positions are left.",
             {"KO": 3, "IBM": 2}, position("KO", 3), -1),
        case("Eleven of twelve are left.", {"KO": 12, "V": 1}, position("KO", 1), -1),
    ],
    draw=draw,
    right=[in_a_copy, counted()],
    wrong=[
        wrong("A ticker of which nothing is left stays with 0. The group would never be empty, and "
              "the client would never leave the table.", counted(least=0)),
        wrong("It's still a set: a second position in the same ticker isn't counted, and the first "
              "one that goes takes the ticker with it.", plain_set),
        wrong("It counts what comes. But the first position that goes takes the ticker with it, "
              "whatever its number: take away one.", takes_all),
        wrong("It counts shares. The number of positions is asked for: each row is one, whatever "
              "its amount.", counted(by=lambda row: row["amount"])),
        wrong("The sign is turned round: +1 is a row that comes.", counted(by=-1)),
        wrong("A ticker that isn't held yet is never added. `held` may not know the row's ticker.",
              only_known),
    ],
    hints=(
        "A set holds AAPL after one position and after two. What must be known to take one out?",
        "Compute the new number of the row's ticker first; it may have had none before. Then build "
        "a dictionary from the others, and put the ticker in if something is left of it.",
        "`held.get(row['ticker'], 0) + sign` is the new number.",
    ),
    discussion="Add a row, subtract it, and the value equals what it was before: that's the whole "
    "contract of an adder and a subtractor, and worth a test with random rows. An entry with 0 "
    "would break it, and the group would never be empty, so the client would never leave the "
    "table.\n\n"
    "In place would be faster, and wrong where something still holds the old value: a cache, a "
    "log, or the state of the micro-batch before.",
)  # fmt: skip
