"""The exercises of each chapter.

A chapter's folder, here ``views_per_second``, and its proofs:

- ``__init__.py``: ``problems``, the tuple of its exercises in the order of the notebook.
- ``diagram.py``: ``paths``, the chapter's pipeline (``views.parts``); ``Chapter`` draws it.
- ``by_rule.py``, named after the exercise: one ``classroom.core.Problem``. Its reference is a plain
  function above it; its ``diagnose`` is ``by_cases`` (module ``judging``), or ``by_rows``
  (``frames``) for DataFrames, which asks of a right answer whether it holds on a stream as well.
  Cases drawn by a seed (``drawn``) come after those that teach: a rule on names, sizes or order
  fails there. A prediction by letter is a ``choice``, which declares five options and what is wrong
  with each; that is all it needs. The notebook's cell begins with the problem's ``stub``.
- ``per_second_on_spark.py``: an exercise for DataFrames, whose name ends so. Its rows are ``_ROWS``
  with ``_SCHEMA``.
- ``by_rule_mistakes.py``, or the same module where they are few: ``MISTAKES``, the wrong answers
  that a check recognizes, as learners write them, each under its cause (``classroom.mistakes``). An
  answer that gives the same in every case gets that cause, however it is written; so the order
  matters where two give the same.
  ``shows`` picks the case on the card where not every case shows the mistake. ``SHORTCUTS`` give
  right values in the cases that teach. For DataFrames a mistake goes from rows to rows
  (``models.rows``); what chapters have in common stands in ``models.clicks`` and
  ``models.forms``.
- ``tests/proofs/views_per_second/by_rule.py``, for each problem that is no choice: its
  ``catalogue`` of answers as learners write them. At least two are right, at least six wrong, each
  with a piece of the cause that it must get; shortcuts hold in the teaching cases only; and
  each of the ``models`` must get its own cause. With ``spark=True`` it's imported before there is
  a session: make columns (``F.col``) inside functions. ``tests/test_exercises.py`` proves them all.
- ``tests/test_exercises_views_per_second.py``, only if something else is to be tested.
"""
