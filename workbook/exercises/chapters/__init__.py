"""The exercises of each chapter.

A chapter's folder, here ``views_per_second``, and its proof:

- ``__init__.py``: one ``engine.core.Problem`` for each exercise, and ``problems``, the tuple of
  them all. Its reference is a plain function above it; its ``diagnose`` is ``by_cases`` (module
  ``judging``), or ``by_rows`` (``frames``) for DataFrames, which asks of a right answer whether it
  holds on a stream as well. Cases drawn by a seed (``drawn``) come after those that teach: a rule
  on names, sizes or order fails there. A prediction by letter is a ``choice``, which declares its
  options and what is wrong with each; that is all it needs. The notebook's cell begins with the
  problem's ``stub``.
- ``wrong_models.py``, and ``wrong_models_on_spark.py`` for DataFrames: the mistakes learners make
  there. A ``judging.Mistake`` is a model, which makes the mistake, and the cause to name. An
  answer that gives in every case what the model gives gets that cause, however it is written; so
  the order matters where two models give the same. ``shows`` picks the case on the card where not
  every case shows the mistake.
- ``tests/proofs/views_per_second.py``: ``catalogues``, one for each problem that is no choice, in
  their order. A ``Catalogue`` is answers as learners write them: at least two right ones, and at
  least six wrong ones, each with a piece of the cause that it must be told; and shortcuts, which
  hold in the teaching cases only. ``tests/test_exercises.py`` proves them all.
- ``tests/test_exercises_views_per_second.py``, only if something else is to be tested.
"""
