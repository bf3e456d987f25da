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
    undone  INTEGER NOT NULL DEFAULT 0,
    -- The address of the pull request that the run reviews.
    request TEXT
) STRICT;
CREATE INDEX run_request ON run (request) WHERE request IS NOT NULL;

-- The calls of agents in all runs. `day` is the day (UTC) on which the call started. `millis` is NULL until the call ends.
-- Tokens and millionths of a dollar that are unknown are NULL, and never 0.
CREATE TABLE call (
    run    TEXT NOT NULL,
    call   TEXT NOT NULL CHECK (json_valid(call)),
    agent  TEXT NOT NULL,
    role   TEXT NOT NULL,
    day    TEXT NOT NULL,
    millis INTEGER,
    input  INTEGER,
    output INTEGER,
    micros INTEGER,
    PRIMARY KEY (run, call)
) STRICT, WITHOUT ROWID;
CREATE INDEX call_day ON call (day);

-- The findings of all runs. A finding has the same `id` in each run that raised it. `was` is its former id, if it left its
-- group in the run.
CREATE TABLE finding (
    run       TEXT NOT NULL,
    id        INTEGER NOT NULL,
    was       INTEGER,
    mandatory INTEGER NOT NULL,
    body      TEXT NOT NULL CHECK (json_valid(body)),
    PRIMARY KEY (run, id)
) STRICT;
CREATE INDEX finding_id ON finding (id);
CREATE INDEX finding_was ON finding (was) WHERE was IS NOT NULL;

-- The problems. Each has its number for life. `run` and `finding` are the first finding of the problem. `key` identifies
-- the problem in all histories. If two numbers turn out to be one problem, `alias_of` of the newer number is the older
-- one. A problem that no review numbered, such as an issue of a watch, has the negative number of its dispute.
CREATE TABLE problem (
    number   INTEGER PRIMARY KEY,
    key      TEXT NOT NULL,
    run      TEXT NOT NULL,
    finding  INTEGER NOT NULL,
    alias_of INTEGER
) STRICT;
CREATE INDEX problem_key ON problem (key);

-- `reopens` is the earlier dispute that a dispute reopens. The ruling on the earlier dispute is no longer in force.
-- `until` is the last day (UTC) of a ruling, and `cited` is the code that the ruling cites. `ended` is the time at which the removal of the code ended a ruling.
CREATE TABLE dispute (
    number      INTEGER PRIMARY KEY CHECK (number > 0),
    run         TEXT NOT NULL,
    opened      TEXT NOT NULL,
    settled     TEXT,
    finding     INTEGER NOT NULL,
    tag         TEXT NOT NULL,
    title       TEXT NOT NULL,
    location    TEXT CHECK (location IS NULL OR json_valid(location)),
    raised_by   TEXT NOT NULL CHECK (json_valid(raised_by)),
    ruling      TEXT,
    ruled_by    TEXT CHECK (ruled_by IS NULL OR json_valid(ruled_by)),
    rationale   TEXT NOT NULL DEFAULT '',
    disposition TEXT CHECK (disposition IS NULL OR json_valid(disposition)),
    reopens     INTEGER,
    until       TEXT,
    ended       TEXT,
    cited       TEXT CHECK (cited IS NULL OR json_valid(cited))
) STRICT;
CREATE INDEX dispute_run ON dispute (run);
CREATE INDEX dispute_open ON dispute (number) WHERE disposition IS NULL;
CREATE INDEX dispute_ruling ON dispute (ruling, number);
CREATE INDEX dispute_disposition ON dispute (disposition ->> '$.as', number);
CREATE INDEX dispute_opened ON dispute (opened, number);

-- The findings that each dispute is about. A ruling that names some of them binds only these, and the others are
-- removed. `places` has a location and an anchor for each place that exists in the reviewed tree, the main place first.
CREATE TABLE judged (
    dispute   INTEGER NOT NULL,
    finding   INTEGER NOT NULL,
    tag       TEXT NOT NULL,
    title     TEXT NOT NULL,
    location  TEXT CHECK (location IS NULL OR json_valid(location)),
    raised_by TEXT NOT NULL CHECK (json_valid(raised_by)),
    places    TEXT NOT NULL CHECK (json_valid(places)),
    PRIMARY KEY (dispute, finding)
) STRICT, WITHOUT ROWID;

CREATE TABLE raiser (
    reviewer TEXT NOT NULL,
    dispute  INTEGER NOT NULL,
    PRIMARY KEY (reviewer, dispute)
) STRICT, WITHOUT ROWID;

-- The runs of stages and checkpoints, in the order of their start.
CREATE TABLE stage (
    number  INTEGER PRIMARY KEY,
    run     TEXT NOT NULL UNIQUE,
    id      TEXT NOT NULL,
    stage   TEXT NOT NULL,
    started TEXT NOT NULL
) STRICT;
CREATE INDEX stage_id ON stage (id, stage, number);

-- The watches, in the order of their start.
CREATE TABLE watch (
    number  INTEGER PRIMARY KEY,
    run     TEXT NOT NULL UNIQUE,
    root    TEXT NOT NULL,
    started TEXT NOT NULL
) STRICT;
CREATE INDEX watch_root ON watch (root, number);

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

-- What agents said about findings that may be the same. `key` identifies the texts and the code of two findings, or of a
-- finding and an earlier dispute.
CREATE TABLE compared (
    number INTEGER PRIMARY KEY,
    key    TEXT NOT NULL,
    run    TEXT NOT NULL,
    same   INTEGER NOT NULL,
    by     TEXT NOT NULL,
    reason TEXT NOT NULL
) STRICT;
CREATE INDEX compared_key ON compared (key, number);

-- Disputes that were copied from other histories of this repository. They do not affect runs. `dispute` is the id of the
-- dispute, and `source` names the history.
CREATE TABLE record (
    dispute  TEXT PRIMARY KEY,
    source   TEXT NOT NULL,
    body     TEXT NOT NULL CHECK (json_valid(body))
) STRICT;

-- The tables for the measures of `glee stats`. `tally` and `pair` contain sums over the other tables, so that
-- `glee stats` does not read the events.

-- The reviewers and judges of a review. `answered` states whether a complete review of the reviewer is recorded.
CREATE TABLE participant (
    run      TEXT NOT NULL,
    agent    TEXT NOT NULL,
    role     TEXT NOT NULL,
    model    TEXT NOT NULL,
    answered INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (run, agent, role)
) STRICT, WITHOUT ROWID;

-- The findings, by their problems. A problem counts once, whatever number of findings it has. `day` is the day (UTC) on
-- which the finding was raised. `side` is the result of the dispute, `judged` the ruling of the judges, and `person` the
-- ruling of a person. Without a decision, these columns are NULL. `demonstrated` is 1 if a test failed on the reviewed code,
-- and `proven` is 1 if it passes after the last change.
CREATE TABLE measured (
    run         TEXT NOT NULL,
    finding     INTEGER NOT NULL,
    problem     INTEGER NOT NULL,
    day         TEXT NOT NULL,
    file        TEXT,
    category    TEXT NOT NULL,
    cwe         TEXT,
    reverses    INTEGER,
    dispute     INTEGER,
    side        TEXT CHECK (side IN ('upheld', 'dismissed')),
    judged      TEXT CHECK (judged IN ('upheld', 'dismissed')),
    person      TEXT CHECK (person IN ('upheld', 'dismissed')),
    implemented INTEGER NOT NULL DEFAULT 0,
    changed     INTEGER NOT NULL DEFAULT 0,
    objected    INTEGER NOT NULL DEFAULT 0,
    undone      INTEGER NOT NULL DEFAULT 0,
    demonstrated INTEGER NOT NULL DEFAULT 0,
    proven      INTEGER NOT NULL DEFAULT 0,
    fixed       INTEGER AS (implemented AND changed AND NOT objected) VIRTUAL,
    PRIMARY KEY (run, finding)
) STRICT, WITHOUT ROWID;
CREATE INDEX measured_problem ON measured (problem, dispute);
CREATE INDEX measured_implemented ON measured (problem) WHERE implemented = 1;
CREATE INDEX measured_dispute ON measured (dispute) WHERE dispute IS NOT NULL;
CREATE INDEX measured_reverses ON measured (run, reverses) WHERE reverses IS NOT NULL;

-- The opinions on a problem of the reviewers that read the code.
CREATE TABLE opinion (
    problem  INTEGER NOT NULL,
    reviewer TEXT NOT NULL,
    model    TEXT NOT NULL,
    said     TEXT NOT NULL CHECK (said IN ('raised', 'confirmed', 'silent')),
    PRIMARY KEY (problem, reviewer)
) STRICT, WITHOUT ROWID;

-- The last ruling of each judge on a dispute. `side` is NULL if the judge neither enforced nor dismissed the finding.
CREATE TABLE judgement (
    dispute INTEGER NOT NULL,
    judge   TEXT NOT NULL,
    model   TEXT NOT NULL,
    side    TEXT CHECK (side IN ('upheld', 'dismissed')),
    PRIMARY KEY (dispute, judge)
) STRICT, WITHOUT ROWID;

-- The last ruling of each auditing judge on a dispute. An audit changes no ruling.
CREATE TABLE audit (
    dispute INTEGER NOT NULL,
    judge   TEXT NOT NULL,
    side    TEXT CHECK (side IN ('upheld', 'dismissed')),
    PRIMARY KEY (dispute, judge)
) STRICT, WITHOUT ROWID;

CREATE TABLE tally (
    kind       TEXT NOT NULL,
    name       TEXT NOT NULL,
    day        TEXT NOT NULL,
    raised     INTEGER NOT NULL DEFAULT 0,
    shared     INTEGER NOT NULL DEFAULT 0,
    alone      INTEGER NOT NULL DEFAULT 0,
    disputed   INTEGER NOT NULL DEFAULT 0,
    upheld     INTEGER NOT NULL DEFAULT 0,
    dismissed  INTEGER NOT NULL DEFAULT 0,
    judged     INTEGER NOT NULL DEFAULT 0,
    checked    INTEGER NOT NULL DEFAULT 0,
    overturned INTEGER NOT NULL DEFAULT 0,
    fixed      INTEGER NOT NULL DEFAULT 0,
    reverted   INTEGER NOT NULL DEFAULT 0,
    audited    INTEGER NOT NULL DEFAULT 0,
    confirmed  INTEGER NOT NULL DEFAULT 0,
    demonstrated INTEGER NOT NULL DEFAULT 0,
    proven     INTEGER NOT NULL DEFAULT 0,
    outruled   INTEGER NOT NULL DEFAULT 0,
    calls      INTEGER NOT NULL DEFAULT 0,
    unpriced   INTEGER NOT NULL DEFAULT 0,
    millis     INTEGER NOT NULL DEFAULT 0,
    input      INTEGER NOT NULL DEFAULT 0,
    output     INTEGER NOT NULL DEFAULT 0,
    micros     INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (kind, name, day)
) STRICT, WITHOUT ROWID;

-- The counts of agreements of two reviewers (kind `reviewer`) or two judges (kind `judge`).
CREATE TABLE pair (
    kind     TEXT NOT NULL,
    one      TEXT NOT NULL,
    other    TEXT NOT NULL,
    day      TEXT NOT NULL,
    compared INTEGER NOT NULL DEFAULT 0,
    agreed   INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (kind, one, other, day)
) STRICT, WITHOUT ROWID;

-- A problem. `dispute` is the last dispute with a decision, or else the last dispute. `repair` is 1 if the last change that
-- fixed the problem stands, 2 if this change was reverted, and NULL if no change fixed the problem. `max` selects the last
-- row without a sort. Each update of a sum reads this view many times, and sorts are slow.
CREATE VIEW counted AS
SELECT p.number, first.day, first.category, first.cwe,
    ifnull(
        (SELECT max(d.dispute) FROM measured d INDEXED BY measured_problem
         WHERE d.problem = p.number AND d.dispute > 0 AND d.side IS NOT NULL),
        (SELECT max(d.dispute) FROM measured d INDEXED BY measured_problem
         WHERE d.problem = p.number AND d.dispute > 0)) AS dispute,
    (SELECT 1 + (last.undone OR EXISTS (SELECT 1 FROM measured r INDEXED BY measured_reverses
        WHERE r.run = last.run AND r.reverses = last.finding AND r.reverses IS NOT NULL AND r.finding <> last.finding
            AND r.fixed))
     FROM (SELECT x.undone, x.run, x.finding, max(x.day || ' ' || x.run || printf(' %010d', x.finding))
           FROM measured x INDEXED BY measured_implemented
           WHERE x.problem = p.number AND x.implemented = 1 AND x.fixed) last) AS repair,
    EXISTS (SELECT 1 FROM measured t INDEXED BY measured_problem
        WHERE t.problem = p.number AND t.demonstrated) AS demonstrated,
    EXISTS (SELECT 1 FROM measured t INDEXED BY measured_problem WHERE t.problem = p.number AND t.proven) AS proven
FROM problem p JOIN measured first ON first.run = p.run AND first.finding = p.finding
WHERE p.alias_of IS NULL;

-- What one problem adds to the sums of all findings, of its category and weakness, and of the reviewers that raised it.
CREATE VIEW fact AS
SELECT p.number, p.day, p.category, p.cwe,
    1 AS raised,
    EXISTS (SELECT 1 FROM opinion o WHERE o.problem = p.number LIMIT 1 OFFSET 1) AS shared,
    (SELECT count(*) > 1 AND total(o.said <> 'silent') = 1 FROM opinion o
     WHERE o.problem = p.number) AS alone,
    p.dispute IS NOT NULL AS disputed,
    d.side IS 'upheld' AS upheld,
    d.side IS 'dismissed' AS dismissed,
    d.judged IS NOT NULL AS judged,
    d.judged IS NOT NULL AND d.person IS NOT NULL AS checked,
    ifnull(d.judged <> d.person, 0) AS overturned,
    p.repair IS NOT NULL AS fixed,
    p.repair IS 2 AS reverted,
    (SELECT count(a.side) FROM audit a WHERE a.dispute = p.dispute AND d.judged IS NOT NULL) AS audited,
    (SELECT count(*) FROM audit a WHERE a.dispute = p.dispute AND a.side = d.judged) AS confirmed,
    p.demonstrated,
    p.proven,
    p.demonstrated AND d.side IS 'dismissed' AS outruled
FROM counted p LEFT JOIN measured d ON d.dispute = p.dispute;

-- The same for each judge that ruled on a dispute about the problem: here the decision is the judge's own.
CREATE VIEW ruling_fact AS
SELECT f.number, f.day, j.judge, j.model, f.raised, f.shared, f.alone, f.disputed,
    j.side IS 'upheld' AS upheld,
    j.side IS 'dismissed' AS dismissed,
    j.side IS NOT NULL AS judged,
    j.side IS NOT NULL AND d.person IS NOT NULL AS checked,
    ifnull(j.side <> d.person, 0) AS overturned,
    f.fixed, f.reverted,
    (SELECT count(a.side) FROM audit a
     WHERE a.dispute = d.dispute AND a.judge <> j.judge AND j.side IS NOT NULL) AS audited,
    (SELECT count(*) FROM audit a
     WHERE a.dispute = d.dispute AND a.judge <> j.judge AND a.side = j.side) AS confirmed,
    f.demonstrated, f.proven, f.demonstrated AND j.side IS 'dismissed' AS outruled
FROM fact f
    JOIN measured d INDEXED BY measured_problem ON d.problem = f.number AND d.dispute > 0
    JOIN judgement j ON j.dispute = d.dispute;

CREATE VIEW addend AS
SELECT number, 'all' AS kind, '' AS name, day, raised, shared, alone, disputed, upheld, dismissed, judged, checked,
    overturned, fixed, reverted, audited, confirmed, demonstrated, proven, outruled FROM fact
UNION ALL
SELECT number, 'category', category, day, raised, shared, alone, disputed, upheld, dismissed, judged, checked,
    overturned, fixed, reverted, audited, confirmed, demonstrated, proven, outruled FROM fact
UNION ALL
SELECT number, 'cwe', cwe, day, raised, shared, alone, disputed, upheld, dismissed, judged, checked,
    overturned, fixed, reverted, audited, confirmed, demonstrated, proven, outruled FROM fact WHERE cwe IS NOT NULL
UNION ALL
SELECT f.number, 'reviewer', o.reviewer, day, raised, shared, alone, disputed, upheld, dismissed, judged,
    checked, overturned, fixed, reverted, audited, confirmed, demonstrated, proven, outruled
FROM fact f JOIN opinion o ON o.problem = f.number AND o.said = 'raised'
UNION ALL
SELECT f.number, 'model', o.model, day, raised, shared, alone, disputed, upheld, dismissed, judged, checked,
    overturned, fixed, reverted, audited, confirmed, demonstrated, proven, outruled
FROM fact f JOIN opinion o ON o.problem = f.number AND o.said = 'raised'
WHERE NOT EXISTS (SELECT 1 FROM opinion p WHERE p.problem = o.problem AND p.reviewer < o.reviewer
    AND p.model = o.model AND p.said = 'raised')
UNION ALL
SELECT number, 'judge', judge, day, raised, shared, alone, disputed, upheld, dismissed, judged, checked,
    overturned, fixed, reverted, audited, confirmed, demonstrated, proven, outruled FROM ruling_fact
UNION ALL
SELECT number, 'judge_model', model, day, raised, shared, alone, disputed, upheld, dismissed, judged, checked,
    overturned, fixed, reverted, audited, confirmed, demonstrated, proven, outruled FROM ruling_fact;

CREATE VIEW comparison AS
SELECT c.number, 'reviewer' AS kind, x.reviewer AS one, y.reviewer AS other, c.day,
    1 AS compared, x.said <> 'silent' AND y.said <> 'silent' AS agreed
FROM counted c
    JOIN opinion x ON x.problem = c.number
    JOIN opinion y ON y.problem = c.number AND y.reviewer > x.reviewer
WHERE x.said <> 'silent' OR y.said <> 'silent'
UNION ALL
SELECT c.number, 'judge', x.judge, y.judge, c.day, 1, x.side = y.side
FROM counted c
    JOIN measured d INDEXED BY measured_problem ON d.problem = c.number AND d.dispute > 0
    JOIN judgement x ON x.dispute = d.dispute
    JOIN judgement y ON y.dispute = d.dispute AND y.judge > x.judge
WHERE x.side IS NOT NULL AND y.side IS NOT NULL
UNION ALL
SELECT c.number, 'judge', min(x.judge, a.judge), max(x.judge, a.judge), c.day, 1, x.side = a.side
FROM counted c
    JOIN measured d INDEXED BY measured_problem ON d.problem = c.number AND d.dispute > 0
    JOIN judgement x ON x.dispute = d.dispute
    JOIN audit a ON a.dispute = d.dispute AND a.judge <> x.judge
WHERE x.side IS NOT NULL AND a.side IS NOT NULL;
