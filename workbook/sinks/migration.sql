-- A migration of the old table `source`: the counts of days before `before` (of all days, if null).
CREATE TABLE IF NOT EXISTS migrations (
    source text PRIMARY KEY,
    before date,
    begun timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- The token ranges of a migration: `first` is excluded, `last` is included. `finished` is set in
-- the transaction that writes the range's rows, so it's the checkpoint of the range.
CREATE TABLE IF NOT EXISTS ranges (
    source text, first bigint, last bigint NOT NULL,
    attempts int NOT NULL DEFAULT 0,        -- how often its first rows have been read
    failure text,                           -- why it couldn't be read the last time
    finished timestamptz,
    migrated bigint NOT NULL DEFAULT 0, rejected bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (source, first)
);

-- The dead letters of a migration: rows of the old table as JSON, and why they were rejected.
CREATE TABLE IF NOT EXISTS rejected_rows (source text, first bigint, old text, reason text);
