"""What people look at: live counters, offset tables, the shop."""
