-- The watches of event-driven peer review, in the order in which they began.
CREATE TABLE watch (
    number  INTEGER PRIMARY KEY,
    run     TEXT NOT NULL UNIQUE,
    root    TEXT NOT NULL,
    started TEXT NOT NULL
) STRICT;
CREATE INDEX watch_root ON watch (root, number);
