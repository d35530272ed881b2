"""Chapter 21: A set with counts."""

from workbook.classroom.exercise import case, exercise, wrong


def count(held, row, sign):
    ticker = row["ticker"]
    others = {each: n for each, n in held.items() if each != ticker}
    left = held.get(ticker, 0) + sign
    return {**others, ticker: left} if left else others


def counted(step=lambda row, sign: sign, stays=bool):
    """Make an answer of its parts; with the defaults it's right."""

    def answer(held, row, sign):
        left = {**held, row["ticker"]: held.get(row["ticker"], 0) + step(row, sign)}
        return {ticker: n for ticker, n in left.items() if stays(n)}

    return answer


def either(step):
    """Make two answers: one drops a ticker that is at 0, one also a ticker below 0."""
    return counted(step), counted(step, lambda n: n > 0)


def others(held, row):
    return {ticker: n for ticker, n in held.items() if ticker != row["ticker"]}


def plain_set(held, row, sign):
    return {**held, row["ticker"]: 1} if sign > 0 else others(held, row)


def takes_all(held, row, sign):
    return count(held, row, 1) if sign > 0 else others(held, row)


def only_known(held, row, sign):
    return count(held, row, sign) if row["ticker"] in held else dict(held)


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
    task="Write the adder and the subtractor of a client's tickers as one function. `held` is a "
    "dictionary from ticker to the number of positions that have it. `row` is a position that the "
    "client gets (`sign` is `+1`) or gives up (`-1`). Return the dictionary after the change as a "
    "new dictionary, without tickers of which no position is left. Only a position that was added "
    "before is ever given up.\n\n"
    "With AAPL in the row, `count({'AAPL': 2}, row, -1)` gives `{'AAPL': 1}`. Another -1 from "
    "there gives `{}`.",
    cases=[
        case("The client gets a second position in AAPL.", {"AAPL": 1}, position("AAPL"), 1),
        case("The client gives up one of two positions in AAPL. The other one is still there.",
             {"AAPL": 2, "IBM": 1}, position("AAPL"), -1),
        case("The client gives up the last position in AAPL, so its entry disappears.",
             {"AAPL": 1, "IBM": 3}, position("AAPL"), -1),
        case("The client's first position: `held` is still empty.", {}, position("KO"), 1),
        case("The client gives up the last position: an empty dictionary is left.",
             {"KO": 1}, position("KO"), -1),
        case("The client gets the first position in KO.", {"IBM": 1}, position("KO"), 1),
        case("The client gives up one position in KO, of three shares. Two positions are left.",
             {"KO": 3, "IBM": 2}, position("KO", 3), -1),
    ],
    draw=draw,
    right=[counted()],
    wrong=[
        wrong("A ticker without positions stays with 0. The group would never be empty, and the "
              "client would never leave the table.", counted(stays=lambda n: True)),
        wrong("It's still a set: it doesn't count a second position in the same ticker, and it "
              "removes the ticker with the first position that is given up.", plain_set),
        wrong("It counts positions that are added, but it removes the ticker with the first "
              "position that is given up. Subtract one instead.", takes_all),
        wrong("It counts shares. Count positions: each row is one position, whatever its amount.",
              *either(lambda row, sign: sign * row["amount"])),
        wrong("The sign is the wrong way round: +1 adds the row.",
              *either(lambda row, sign: -sign)),
        wrong("It never adds a new ticker. The row's ticker may not be in `held` yet.",
              only_known),
    ],
    hints=(
        "A set holds AAPL after one position and after two. What must you know to remove one "
        "position?",
        "Compute the new number of the row's ticker first; the ticker may be new. Then build a "
        "dictionary of the other tickers, and add this one if its number isn't 0.",
        "`held.get(row['ticker'], 0) + sign` is the new number.",
    ),
    discussion="Add a row, subtract it again, and the value is the same as before. That's the "
    "whole contract of an adder and a subtractor, and it deserves a test with random rows. An "
    "entry with 0 would break it: the group would never be empty, so the client would never leave "
    "the table.\n\n"
    "Changing the dictionary in place would be faster. But it would be wrong if something else "
    "still holds the old value: a cache, a log, or the state of the previous micro-batch.",
)  # fmt: skip
