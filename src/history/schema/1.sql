-- The events of all runs. `id` counts from 1 without gaps. `hash` covers `prev`, `run`, `seq`, `at` and `body`.
CREATE TABLE event (
    id   INTEGER PRIMARY KEY CHECK (id > 0),
    run  TEXT NOT NULL,
    seq  INTEGER NOT NULL CHECK (seq > 0),
    at   TEXT NOT NULL,
    body TEXT NOT NULL CHECK (json_valid(body)),
    prev TEXT NOT NULL,
    hash TEXT NOT NULL,
    kind TEXT AS (body ->> '$.event') VIRTUAL,
    UNIQUE (run, seq)
) STRICT;
CREATE INDEX event_kind ON event (run, kind, seq);

-- The end of the hash chain, which reveals removed events at the end of the table `event`.
CREATE TABLE chain (
    only   INTEGER PRIMARY KEY CHECK (only = 1),
    events INTEGER NOT NULL,
    hash   TEXT NOT NULL
) STRICT;
INSERT INTO chain VALUES (1, 0, '');

-- The tables from here on are derived from the events. The transaction that appends an event updates these tables.
CREATE TABLE run (
    number  INTEGER PRIMARY KEY,
    id      TEXT NOT NULL UNIQUE,
    started TEXT NOT NULL,
    ended   TEXT,
    target  TEXT NOT NULL,
    mode    TEXT NOT NULL,
    exit    TEXT CHECK (exit IS NULL OR json_valid(exit)),
    undone  INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE finding (
    run       TEXT NOT NULL,
    number    INTEGER NOT NULL,
    mandatory INTEGER NOT NULL,
    body      TEXT NOT NULL CHECK (json_valid(body)),
    PRIMARY KEY (run, number)
) STRICT;

CREATE TABLE dispute (
    number      INTEGER PRIMARY KEY CHECK (number > 0),
    run         TEXT NOT NULL,
    opened      TEXT NOT NULL,
    settled     TEXT,
    finding     INTEGER NOT NULL,
    tag         TEXT NOT NULL,
    title       TEXT NOT NULL,
    location    TEXT CHECK (location IS NULL OR json_valid(location)),
    anchor      TEXT CHECK (anchor IS NULL OR json_valid(anchor)),
    raised_by   TEXT NOT NULL CHECK (json_valid(raised_by)),
    ruling      TEXT,
    ruled_by    TEXT CHECK (ruled_by IS NULL OR json_valid(ruled_by)),
    rationale   TEXT NOT NULL DEFAULT '',
    disposition TEXT CHECK (disposition IS NULL OR json_valid(disposition))
) STRICT;
CREATE INDEX dispute_run ON dispute (run);
CREATE INDEX dispute_open ON dispute (number) WHERE disposition IS NULL;
CREATE INDEX dispute_ruling ON dispute (ruling, number);
CREATE INDEX dispute_disposition ON dispute (disposition ->> '$.as', number);
CREATE INDEX dispute_opened ON dispute (opened, number);

CREATE TABLE raiser (
    reviewer TEXT NOT NULL,
    dispute  INTEGER NOT NULL,
    PRIMARY KEY (reviewer, dispute)
) STRICT, WITHOUT ROWID;
