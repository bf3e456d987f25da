-- The watches, in the order of their start.
CREATE TABLE watch (
    number  INTEGER PRIMARY KEY,
    run     TEXT NOT NULL UNIQUE,
    root    TEXT NOT NULL,
    started TEXT NOT NULL
) STRICT;
CREATE INDEX watch_root ON watch (root, number);
