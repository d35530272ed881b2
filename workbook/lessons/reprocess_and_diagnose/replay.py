"""Chapter 43: Count a day again, up to the fence."""

from collections import Counter
from datetime import date, datetime, timedelta

from workbook.classroom.exercise import case, exercise, wrong
from workbook.streams.events.ad_actions import OSLO, day_of

TEN_MINUTES = 600_000


def recount(records, fence, day):
    counts, counted_at = Counter(), {}
    for record in records:
        if record["offset"] >= fence:
            break
        digest, arrival = record["digest"], record["arrival"]
        if digest in counted_at and arrival - counted_at[digest] <= 600_000:
            continue
        counted_at[digest] = arrival
        if record["day"] == day:
            counts[record["ad"]] += 1
    return counts


def by_lists(records, fence, day):
    kept = []
    for m in [m for m in records if m["offset"] < fence and m["day"] == day]:
        near = [k for k in kept if m["arrival"] - k["arrival"] <= TEN_MINUTES]
        if not any(k["digest"] == m["digest"] for k in near):
            kept.append(m)
    return Counter(m["ad"] for m in kept)


def counting(
    belongs=lambda m, day: m["day"] == day, inside=lambda m, fence: m["offset"] < fence,
    same=lambda m: m["digest"], near=lambda waited: waited <= TEN_MINUTES, remembers_copies=False,
    starts=lambda m, day: True,
):  # fmt: skip
    """Count as the reference does; each wrong answer varies one part."""

    def answer(records, fence, day):
        counts, last = Counter(), {}
        for m in records:
            if not (inside(m, fence) and starts(m, day)):
                continue
            waited = m["arrival"] - last.get(same(m), -(10**15))
            if remembers_copies or not near(waited):
                last[same(m)] = m["arrival"]
            if not near(waited) and belongs(m, day):
                counts[m["ad"]] += 1
        return counts

    return answer


def arrived_on(m):
    return str(day_of(m["arrival"]))


def cut(part):
    count = counting(inside=lambda *_: True)
    return lambda records, fence, day: count(part(records, fence), fence, day)


def log(*lines, begin=0):
    """Make records of lines "arrival digest ad user day?"; the day is the arrival's, if missing.

    An arrival is ``9T12:00`` or ``9T12:00:30``: the day of June, and the time in Oslo. An
    empty line's offset is missing.
    """
    records = []
    for offset, line in ((n, line) for n, line in enumerate(lines, begin) if line):
        arrival, digest, ad, user, *day = line.split()
        on, _, at = arrival.partition("T")
        moment = datetime.fromisoformat(f"2026-06-{int(on):02}T{at}").replace(tzinfo=OSLO)
        records.append({
            "offset": offset, "arrival": round(moment.timestamp() * 1000),
            "day": f"2026-06-{int(day[0] if day else on):02}",
            "ad": ad, "user": user, "digest": digest,
        })  # fmt: skip
    return records


def told(why, *lines, fence=None, begin=0):
    records = log(*lines, begin=begin)
    return case(why, records, begin + len(lines) if fence is None else fence, "2026-06-09")


def draw(random, size):
    at, lines, sent = datetime(2026, 6, 8, 23, 40), [], []
    for n in range(size):
        at += timedelta(minutes=random.choice((0, 1, 3, 4, 7, 11, 120)))
        if sent and random.random() < 0.4:
            what = random.choice(sent[-3:])
        else:
            earlier = random.choice((0, 0, 1)) if at.date() > date(2026, 6, 8) else 0
            ad, user = random.choice(("bike", "boat")), random.choice(("Ada", "Bob"))
            what = f"#{n} {ad} {user} {at.day - earlier}"
            sent.append(what)
        lines.append(f"{at.day}T{at:%H:%M} {what}" if random.random() < 0.8 else "")
    begin = random.choice((0, 5, 900))
    return log(*lines, begin=begin), begin + random.randrange(size // 2, size + 1), "2026-06-09"


replay = exercise(
    recount,
    name="Count a day again, up to the fence",
    task="Write a function that counts a day again. `records` is a list of one partition's "
    "records, sorted by offset; some offsets are missing. Each record is a dictionary with "
    "`offset`, `arrival` (ms, never falls), `day` (text: when the action happened), `ad`, "
    "`user`, and `digest`, a hash of all bytes. Don't change them. The live query counts the "
    "record at offset `fence` and all later ones.\n\n"
    "Return a dictionary from each ad to the number of its actions of `day`, without ads that have "
    "none. A record is a repeat, and doesn't count, if an earlier record with its `digest` "
    "counted, and arrived at most 600,000 ms before it.\n\n"
    "The bike's view at offset 0 is repeated at 1. Another view of the bike is at 2. Fence 2 "
    "gives `{'bike': 1}`, fence 3 `{'bike': 2}`.",
    cases=[
        told("Two views of the bike, and one of the boat.",
             "9T12:00 #1 bike Ada", "9T12:01 #2 bike Bob", "9T12:02 #3 boat Ada"),
        told("Ada views the bike twice within ten minutes: other bytes, so both count.",
             "9T12:00 #1 bike Ada", "9T12:05 #2 bike Ada"),
        told("The fence is 2, so the live query adds the record at offset 2 itself.",
             "9T12:00 #1 bike Ada", "9T12:01 #2 bike Bob", "9T12:02 #3 bike Cy", fence=2),
        told("An action of the day arrives a day late, still before the fence: it counts.",
             "9T12:00 #1 bike Ada", "10T08:00 #2 bike Bob 10", "10T09:00 #3 bike Cy 9"),
        told("An action arrives on the day, but it happened on the day before.",
             "9T12:00 #1 bike Ada", "9T12:01 #2 bike Bob 8"),
        told("The copies arrive at 23:57, 0:01 and 0:08 in Oslo. The second repeats the first; the "
             "third is 11 minutes after the one that counts.",
             "8T23:57 #1 bike Ada 9", "9T00:01 #1 bike Ada", "9T00:08 #1 bike Ada"),
        told("Ten minutes and a millisecond later, the same bytes count again.",
             "9T12:00 #1 bike Ada", "9T12:10:00.001 #1 bike Ada"),
        told("After exactly ten minutes, it's still a repeat.",
             "9T12:00 #1 bike Ada", "9T12:10 #1 bike Ada"),
        told("A repeat isn't counted, so the ten minutes don't begin again.",
             "9T12:00 #1 bike Ada", "9T12:06 #1 bike Ada", "9T12:12 #1 bike Ada"),
        told("The fence is 2, and there's no record at offset 2.",
             "9T12:00 #1 bike Ada", "9T12:01 #2 bike Bob", "", "9T12:03 #4 bike Di", fence=2),
        told("The fence is 3, and there's no record at offset 1: two records are before it.",
             "9T12:00 #1 bike Ada", "", "9T12:02 #3 bike Cy", "9T12:03 #4 bike Di", fence=3),
        told("Two records arrive in the same millisecond, and the fence is between them.",
             "9T12:00 #1 bike Ada", "9T12:00 #2 bike Bob", fence=1),
    ],
    draw=draw,
    right=[by_lists],
    wrong=[
        wrong("It also counts actions of other days. Count only actions that happened on `day`.",
              counting(belongs=lambda m, day: True)),
        wrong("It counts by the day of the arrival, or reads only what arrives on the day. Actions "
              "of this day also arrive later, and if a clock is fast, a little earlier. Read all "
              "records before the fence, and compare their `day`.",
              counting(belongs=lambda m, day: arrived_on(m) == day),
              counting(starts=lambda m, day: arrived_on(m) == day),
              counting(starts=lambda m, day: arrived_on(m) >= day),
              counting(starts=lambda m, day: arrived_on(m) <= day)),
        wrong("It doesn't stop at the fence, which is the live query's next offset. Records before "
              "it count. The live query adds the record at it, and those behind it, itself.",
              counting(inside=lambda m, fence: True),
              counting(inside=lambda m, fence: m["offset"] <= fence),
              counting(inside=lambda m, fence: m["offset"] < fence - 1)),
        wrong("It compares the fence with a record's place in the list. The list may begin at any "
              "offset, and offsets are missing: compare `record['offset']`.",
              cut(lambda log, fence: log[:fence]),
              cut(lambda log, fence: log and log[:max(0, fence - log[0]["offset"])])),
        wrong("It cuts by time. Only the offset says what the live query has seen.",
              cut(lambda log, fence: [m for m in log if m["arrival"] <= max(
                  (n["arrival"] for n in log if n["offset"] < fence), default=0)]),
              cut(lambda log, fence: [m for m in log if m["arrival"] < min(
                  (n["arrival"] for n in log if n["offset"] >= fence), default=10**15)])),
        wrong("It never forgets a digest. After more than ten minutes, the same bytes count again.",
              counting(near=lambda waited: waited < 10**14)),
        wrong("Its ten minutes begin again with each repeat. Measure from the copy that counted.",
              counting(remembers_copies=True)),
        wrong("Your rule is the bug's: two actions of a user on an ad needn't be the same action. "
              "Compare the digests.", counting(same=lambda m: (m["ad"], m["user"]))),
    ],
    hints=(
        "Three questions for each record: is it before the fence? Were its bytes counted in the "
        "ten minutes before it? Did it happen on the day?",
        "Go through the records in order, and keep a dictionary from digest to the arrival at "
        "which it was last counted. Don't change it for a repeat.",
        "`if digest in counted_at and arrival - counted_at[digest] <= 600_000: continue` skips a "
        "repeat.",
    ),
    discussion="The fence cuts the log into two parts: the replay counts the part before it, and "
    "the live query counts the rest. Both use the event's day, so each action of that day is in "
    "exactly one part, however late it arrives. A cut by time wouldn't do that: nobody knows which "
    "offset the live query had reached at that time.\n\n"
    "Where do you begin to read? An action can't arrive long before it happened: this workbook "
    "rejects times of more than five minutes in the future. So count records from five minutes "
    "before the day begins, and remember hashes from ten minutes before that.",
)  # fmt: skip
