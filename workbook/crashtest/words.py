"""The words of a crash test: places in a command, faults, moments, and promises."""

PLACES = (
    "{in}", "{in2}", "{out}", "{run}", "{servers}", "{checkpoint}", "{database}", "{registry}",
)  # fmt: skip
"""What is filled in in a program's command."""

KILL, TERM, FREEZE, BROKER, COPIES = FAULTS = ("kill", "term", "freeze", "broker", "copies")
SAYS = {
    KILL: "kill -9",
    TERM: "SIGTERM, and kill -9 after 30 s",
    FREEZE: "frozen for a minute, while another copy runs",
    BROKER: "the broker stopped and started",
    COPIES: "two copies, then kill -9 to one",
}

START, ANY_TIME, RESULT, COMMIT = MOMENTS = (
    "during a start", "at any time", "after a result", "after a commit",
)  # fmt: skip

EXACTLY, AT_LEAST, AT_MOST, NEITHER = KINDS = (
    "exactly once", "at least once", "at most once", "neither",
)  # fmt: skip

PROMISES = {
    "exactly-once": {EXACTLY},
    "at-least-once": {EXACTLY, AT_LEAST},
    "at-most-once": {EXACTLY, AT_MOST},
    "none": set(KINDS),
}
"""What a run may have kept where this is promised."""
