"""Exercises of the form before ``lessons``, and each chapter's problems and recall questions.

``chapters`` has a folder for each notebook, which bears its name without the number.
"""
