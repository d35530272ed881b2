-- A replay counts the event days `first_day` to `last_day` again. It fills `generation` with the
-- records before `offsets`; from these on the live query writes `generation` + 1 of those days.
CREATE TABLE IF NOT EXISTS replays (
    generation bigint PRIMARY KEY,
    topic text NOT NULL,                    -- the id of the topic
    first_day date NOT NULL, last_day date NOT NULL,
    offsets jsonb NOT NULL,                 -- the live query's next offset of each partition
    shown boolean NOT NULL DEFAULT false    -- until it is, nobody sees the generation
);

-- The number of actions of an ad on a day in Oslo, by type and traffic source.
CREATE TABLE IF NOT EXISTS counts_by_generation (
    ad text, day date, type text, source text, generation bigint,
    count bigint NOT NULL,
    PRIMARY KEY (ad, day, type, source, generation)
);

-- The different users who viewed an ad on a day in Oslo: a theta sketch, and their number by it.
CREATE TABLE IF NOT EXISTS viewers_by_generation (
    ad text, day date, generation bigint,
    sketch bytea STORAGE EXTERNAL NOT NULL, -- hashes can't be compressed
    estimate bigint NOT NULL,
    PRIMARY KEY (ad, day, generation)
);

-- The same of a group of users: those whose trait (age_group, gender, region) has this value.
CREATE TABLE IF NOT EXISTS groups_by_generation (
    ad text, day date, trait text, value text, generation bigint,
    sketch bytea STORAGE EXTERNAL NOT NULL,
    estimate bigint NOT NULL,
    PRIMARY KEY (ad, day, trait, value, generation)
);

-- What is shown. A day has several generations from the start of its replay on: their counts are
-- added here; their sketches are rows, which a reader unites.
CREATE OR REPLACE VIEW counts AS
    SELECT ad, day, type, source, sum(count)::bigint AS count FROM counts_by_generation
    WHERE generation NOT IN (SELECT generation FROM replays WHERE NOT shown)
    GROUP BY ad, day, type, source;

CREATE OR REPLACE VIEW viewers AS
    SELECT ad, day, sketch, estimate FROM viewers_by_generation
    WHERE generation NOT IN (SELECT generation FROM replays WHERE NOT shown);

CREATE OR REPLACE VIEW groups AS
    SELECT ad, day, trait, value, sketch, estimate FROM groups_by_generation
    WHERE generation NOT IN (SELECT generation FROM replays WHERE NOT shown);

-- The fate of every record that a pipeline has read; `reason` says why one was rejected.
CREATE TABLE IF NOT EXISTS fates (
    pipeline text, topic text, fate text, reason text,
    count bigint NOT NULL,
    PRIMARY KEY (pipeline, topic, fate, reason)
);

-- The last micro-batch in this database. `topic` is the id of the topic that the pipeline reads.
CREATE TABLE IF NOT EXISTS fence (
    pipeline text, topic text,
    epoch bigint NOT NULL DEFAULT 0,        -- of the run that may write; each start raises it
    query text NOT NULL DEFAULT '',         -- the query's id, which its checkpoint stores
    batch bigint NOT NULL DEFAULT -1,       -- the number of its last micro-batch
    offsets jsonb NOT NULL DEFAULT '{}',    -- the next offset of each partition
    born jsonb NOT NULL DEFAULT '{}',       -- `offsets` when the query began
    PRIMARY KEY (pipeline, topic)
);

-- Where a run without a checkpoint begins to read a partition, so that it finds all duplicates.
CREATE TABLE IF NOT EXISTS starts (
    pipeline text, topic text, partition int,
    first_offset bigint NOT NULL,
    PRIMARY KEY (pipeline, topic, partition)
);

-- The micro-batches of the last hour, and when each was written.
CREATE TABLE IF NOT EXISTS batches (
    pipeline text, topic text, query text, batch bigint,
    records bigint NOT NULL,
    written timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (pipeline, topic, query, batch)
);
