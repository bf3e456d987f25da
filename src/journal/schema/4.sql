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
