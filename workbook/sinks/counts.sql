-- The number of actions of an ad on a day in Oslo, by type and traffic source.
CREATE TABLE IF NOT EXISTS counts (
    ad text, day date, type text, source text,
    count bigint NOT NULL,
    PRIMARY KEY (ad, day, type, source)
);

-- The different users who viewed an ad on a day in Oslo: a theta sketch, and their number by it.
CREATE TABLE IF NOT EXISTS viewers (
    ad text, day date,
    sketch bytea STORAGE EXTERNAL NOT NULL, -- hashes can't be compressed
    estimate bigint NOT NULL,
    PRIMARY KEY (ad, day)
);

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

-- The arrival (ms) that a partition had reached at an offset, about once for each minute of
-- arrival: tells a run without a checkpoint where to begin.
CREATE TABLE IF NOT EXISTS reached (
    pipeline text, topic text, partition int, next_offset bigint,
    arrival bigint NOT NULL,
    PRIMARY KEY (pipeline, topic, partition, next_offset)
);

-- The micro-batches of the last hour, and when each was written.
CREATE TABLE IF NOT EXISTS batches (
    pipeline text, topic text, query text, batch bigint,
    records bigint NOT NULL,
    written timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (pipeline, topic, query, batch)
);
