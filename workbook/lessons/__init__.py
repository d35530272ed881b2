"""Each chapter's exercises, recall questions and diagram, in a folder with the notebook's stem.

- ``__init__.py``: ``problems``, the tuple of its exercises in the order of the notebook;
  ``recall``; and ``paths``, the chapter's pipeline (``views.pipeline``), which ``Chapter`` draws.
- ``add_up.py`` and the like, one file for each exercise: its task, reference, cases and wrong ideas
  (``classroom.exercise``, ``classroom.frame_exercise``), which also prove it.
"""
