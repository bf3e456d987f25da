-- `reopens` is the earlier dispute that a dispute reopens. The ruling on the earlier dispute is no longer in force.
ALTER TABLE dispute ADD COLUMN reopens INTEGER;
-- `until` is the last day (UTC) of a ruling. `ended` is the time at which the removal of the code ended a ruling.
ALTER TABLE dispute ADD COLUMN until TEXT;
ALTER TABLE dispute ADD COLUMN ended TEXT;

-- The files that reviewers have read, for later reviews of the same content. `run` and `seq` identify the event with
-- the answer of the reviewer.
CREATE TABLE reviewed (
    number INTEGER PRIMARY KEY,
    asker  TEXT NOT NULL,
    file   TEXT NOT NULL,
    key    TEXT NOT NULL,
    run    TEXT NOT NULL,
    seq    INTEGER NOT NULL
) STRICT;
CREATE INDEX reviewed_file ON reviewed (asker, file, number);
CREATE INDEX reviewed_key ON reviewed (asker, key, number);

-- Records of runs, outcomes and disputes that clones exchange. `source` is empty for a record that this history has
-- created. Records of other clones do not affect runs. `hash` is the BLAKE3 hash of `body`.
CREATE TABLE record (
    hash     TEXT PRIMARY KEY,
    kind     TEXT NOT NULL,
    subject  TEXT NOT NULL,
    author   TEXT NOT NULL,
    at       TEXT NOT NULL,
    source   TEXT NOT NULL,
    body     TEXT NOT NULL CHECK (json_valid(body)),
    UNIQUE (kind, subject, author, at, source)
) STRICT;
