"""Views for notebooks: live counters, offset tables, the shop."""
