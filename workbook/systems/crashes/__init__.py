"""Where each system can be killed, on which input, and how it is judged after that."""
