-- The earlier dispute that a dispute reopens, whose ruling does not bind any more.
ALTER TABLE dispute ADD COLUMN reopens INTEGER;
-- How long a ruling binds: its last day (UTC), and when it was ended because its code was gone.
ALTER TABLE dispute ADD COLUMN until TEXT;
ALTER TABLE dispute ADD COLUMN ended TEXT;

-- What reviewers have read of files, for later reviews of the same content: `seq` is the event of the run that says it.
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

-- Records of runs, outcomes and disputes as they are exchanged with other clones: what this history has sent (`source` is
-- empty), and what came from elsewhere. They inform and do not bind. `hash` is the BLAKE3 hash of `body`.
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
