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
