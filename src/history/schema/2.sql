-- The runs of stages and checkpoints, in the order of their start.
CREATE TABLE stage (
    number  INTEGER PRIMARY KEY,
    run     TEXT NOT NULL UNIQUE,
    id      TEXT NOT NULL,
    stage   TEXT NOT NULL,
    started TEXT NOT NULL
) STRICT;
CREATE INDEX stage_id ON stage (id, stage, number);
