"""The crash lab: kill -9 at a chosen point, start again, and let the ledger say what it cost."""
