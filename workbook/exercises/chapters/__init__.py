"""Each chapter's exercises, recall questions and diagram, in a folder with the notebook's stem.

- ``__init__.py``: ``problems``, the tuple of its exercises in the order of the notebook, and
  ``recall``.
- ``diagram.py``: ``paths``, the chapter's pipeline (``views.parts``); ``Chapter`` draws it.

A new exercise is written in ``workbook.lessons``. Those that still stand here have another form:

- ``by_rule.py``, named after the exercise: one ``classroom.core.Problem``, whose ``diagnose`` is
  ``by_cases`` (``judging``), ``by_rows`` (``frames``) for DataFrames, or a ``choice``.
- ``by_rule_mistakes.py``: ``MISTAKES``, the wrong answers that a check recognizes, each under its
  cause. Where two give the same, the first one names it; ``shows`` picks the case on the card.
  ``SHORTCUTS`` give right values in the cases that teach. For DataFrames they go from rows to rows.
- ``tests/proofs/views_per_second/by_rule.py``: its ``catalogue`` of right and wrong answers, which
  ``tests/test_exercises.py`` proves. With ``spark=True`` it's imported before there is a session.
"""
