"""Each chapter's problems and recall questions, and exercises of the form before ``lessons``."""
