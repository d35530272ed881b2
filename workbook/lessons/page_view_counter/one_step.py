"""Chapter 01: One step."""

import ast
import json

from workbook.classroom.exercise import case, exercise, wrong


def next_count(count, value):
    click = json.loads(value)
    if click["click_type"] == "Page":
        return count + 1
    return count


def careful(count, value):
    try:
        return count + (json.loads(value)["click_type"] == "Page")
    except (ValueError, TypeError, KeyError):
        return count


def stepping(counts=lambda kind: kind == "Page", page=lambda n: n + 1, read=json.loads):
    """Build an answer with some parts changed, as the wrong answers need it."""

    def answer(count, value):
        return page(count) if counts(read(value)["click_type"]) else count

    return answer


def searching(text):
    return lambda count, value: count + (text in str(value))


def looped(answer):
    """Call an answer as the loop does: it skips a record that is no click and raises an error."""

    def step(count, value):
        try:
            return answer(count, value)
        except Exception:
            if is_click(value):
                raise
            return count

    return step


def is_click(value):
    try:
        return "click_type" in {**json.loads(value)}
    except Exception:
        return False


def draw(random, size):
    kinds = ("Page", "Page", "Page", "Action", "PageLeave", "Scroll", "page", "P", "")
    names = ("/home", "/hats/42", "buy", "Page", "Action", "straße")
    fields = {
        "event_id": random.randrange(10**6),
        "click_type": random.choice(kinds),
        "name": random.choice(names),
        "tab_id": random.choice((None, "t1", "Page")),
    }
    shuffled = dict(random.sample([*fields.items()], len(fields)))
    separators = random.choice(((",", ":"), (", ", ": "), (" , ", " : ")))
    count = random.choice((0, 1, 7, 99, random.randrange(10**9)))
    return count, json.dumps(shuffled, separators=separators).encode()


ONLY_THE_TYPE = "A click is a page view if its `click_type` is equal to `Page`, and only then."
NO_CLICK = (
    "This record is no click. The step may raise an error, which the loop catches, or return the "
    "count unchanged. Any other value would make the count wrong for ever."
)

one_step = exercise(
    next_count,
    rehearse=looped,
    name="One step",
    task="Write the step that takes the count so far and the value of one record, and returns the "
    "next count. The value is JSON in bytes, which `json.loads` reads. Only clicks whose "
    '`click_type` is "Page" count: after 7, such a click gives 8, and any other click gives 7 '
    "again. If the value is no click, the step may raise an error: the loop will catch it.",
    cases=[
        case("A page view adds 1 to the count.",
             7, b'{"event_id":1,"click_type":"Page","name":"/home"}'),
        case("An action doesn't change the count.",
             7, b'{"event_id":2,"click_type":"Action","name":"add-to-basket"}'),
        case(ONLY_THE_TYPE, 7, b'{"event_id":3,"click_type":"Action","name":"Page"}'),
        case(ONLY_THE_TYPE, 7, b'{"event_id":4,"click_type":"Page","name":"shoes"}'),
        case(ONLY_THE_TYPE, 7, b'{"event_id":5,"click_type":"PageLeave","name":"/home"}'),
        case("JSON allows blanks, and the fields may be in any order.",
             7, b'{ "name": "/home", "click_type" : "Page", "event_id": 6 }'),
        case("JSON has its own words: `null`, `true` and `false`. `json.loads` knows them.",
             7, b'{"event_id":7,"click_type":"Page","tab_id":null,"mobile":true}'),
        case(NO_CLICK, 7, b'{"event_id": 77, "click_type": "Page", "na'),
        *(case(NO_CLICK, 7, value) for value in
          (b"", None, b"42", b'["click_type", "Page"]', b'{"event_id": 77}', b"\xff\xfe")),
    ],
    draw=draw,
    right=[careful, stepping()],
    wrong=[
        wrong("It counts every click, actions too.", stepping(lambda kind: True),
              lambda count, value: count + 1),
        wrong("It counts the other clicks and leaves out the page views: the condition is "
              "inverted.", stepping(lambda kind: kind != "Page")),
        wrong("It ignores the count that it was given, and starts again at each page view.",
              stepping(page=lambda count: 1)),
        wrong("A page view doesn't change the count. Is the condition ever true? The type is "
              "`Page`, with a capital letter, and `json.loads` has to read the bytes first. And "
              "does the step return the new count?", lambda count, value: count,
              stepping(lambda kind: kind == "page")),
        wrong("There are more types than `Page` and `Action`, such as `PageLeave`. Compare the "
              'whole type: `== "Page"`.', stepping(lambda kind: kind != "Action"),
              stepping(lambda kind: kind.startswith("Page")),
              stepping(lambda kind: kind.lower() == "page")),
        wrong("It searches the text for a word. JSON has many ways to write one click, and a name "
              "may contain any word: read it with `json.loads`, and compare its `click_type`.",
              searching("Page"), searching('"click_type":"Page"')),
        wrong("JSON isn't Python: `eval` and `literal_eval` don't know `null` and `true`, and "
              "`eval` runs any code that a stranger has sent. Read the value with `json.loads`.",
              stepping(read=eval), stepping(read=lambda value: ast.literal_eval(value.decode()))),
    ],
    hints=(
        "The value is text in JSON. What kind of object do you get when you read it, and which of "
        "its fields says whether the click is a page view?",
        "`json.loads` turns the value into a dictionary, which has the kind of click under "
        "`click_type`. The step has to return a number for every kind.",
        'For a page view, `json.loads(value)["click_type"]` is `"Page"`, and the step returns '
        "`count + 1`. What does it return otherwise?",
    ),
    discussion="The step keeps nothing itself: the whole state is `count`, and the caller holds "
    "it. So the step is easy to test. But a caller who loses this number loses everything.\n\n"
    "The step trusts every record: a click that is delivered twice counts twice (chapter 04).",
)  # fmt: skip
