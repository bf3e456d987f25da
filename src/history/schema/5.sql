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

-- The findings. `day` is the day (UTC) on which the finding was raised. `side` is the result of the dispute, `judged`
-- the ruling of the judges, and `person` the ruling of a person. Without a decision, these columns are NULL.
CREATE TABLE measured (
    run         TEXT NOT NULL,
    number      INTEGER NOT NULL,
    day         TEXT NOT NULL,
    category    TEXT NOT NULL,
    reverses    INTEGER,
    dispute     INTEGER,
    side        TEXT CHECK (side IN ('upheld', 'dismissed')),
    judged      TEXT CHECK (judged IN ('upheld', 'dismissed')),
    person      TEXT CHECK (person IN ('upheld', 'dismissed')),
    implemented INTEGER NOT NULL DEFAULT 0,
    changed     INTEGER NOT NULL DEFAULT 0,
    objected    INTEGER NOT NULL DEFAULT 0,
    undone      INTEGER NOT NULL DEFAULT 0,
    fixed       INTEGER AS (implemented AND changed AND NOT objected) VIRTUAL,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX measured_dispute ON measured (dispute) WHERE dispute IS NOT NULL;
CREATE INDEX measured_reverses ON measured (run, reverses) WHERE reverses IS NOT NULL;

-- The opinions on a finding of the reviewers that read the code.
CREATE TABLE opinion (
    run      TEXT NOT NULL,
    number   INTEGER NOT NULL,
    reviewer TEXT NOT NULL,
    model    TEXT NOT NULL,
    said     TEXT NOT NULL CHECK (said IN ('raised', 'confirmed', 'silent')),
    PRIMARY KEY (run, number, reviewer)
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

-- The addends of a finding to the sums of all findings, of the category, and of the reviewers that raised the finding.
CREATE VIEW fact AS
SELECT m.run, m.number, m.day, m.category, m.dispute, m.judged AS ruled, m.person,
    1 AS raised,
    EXISTS (SELECT 1 FROM opinion o WHERE o.run = m.run AND o.number = m.number LIMIT 1 OFFSET 1) AS shared,
    (SELECT count(*) > 1 AND total(o.said <> 'silent') = 1 FROM opinion o
     WHERE o.run = m.run AND o.number = m.number) AS alone,
    m.dispute IS NOT NULL AS disputed,
    m.side IS 'upheld' AS upheld,
    m.side IS 'dismissed' AS dismissed,
    m.judged IS NOT NULL AS judged,
    m.judged IS NOT NULL AND m.person IS NOT NULL AS checked,
    ifnull(m.judged <> m.person, 0) AS overturned,
    m.fixed AS fixed,
    m.fixed AND (m.undone OR EXISTS (SELECT 1 FROM measured r INDEXED BY measured_reverses
        WHERE r.run = m.run AND r.reverses = m.number AND r.reverses IS NOT NULL AND r.number <> m.number AND r.fixed)) AS reverted,
    (SELECT count(a.side) FROM audit a WHERE a.dispute = m.dispute AND m.judged IS NOT NULL) AS audited,
    (SELECT count(*) FROM audit a WHERE a.dispute = m.dispute AND a.side = m.judged) AS confirmed
FROM measured m;

-- The addends of a finding to the sums of the judges that ruled on the finding. The decision is that of the judge.
CREATE VIEW ruling_fact AS
SELECT f.run, f.number, f.day, j.judge, j.model, f.raised, f.shared, f.alone, f.disputed,
    j.side IS 'upheld' AS upheld,
    j.side IS 'dismissed' AS dismissed,
    j.side IS NOT NULL AS judged,
    j.side IS NOT NULL AND f.person IS NOT NULL AS checked,
    ifnull(j.side <> f.person, 0) AS overturned,
    f.fixed, f.reverted,
    (SELECT count(a.side) FROM audit a
     WHERE a.dispute = f.dispute AND a.judge <> j.judge AND j.side IS NOT NULL) AS audited,
    (SELECT count(*) FROM audit a
     WHERE a.dispute = f.dispute AND a.judge <> j.judge AND a.side = j.side) AS confirmed
FROM fact f JOIN judgement j ON j.dispute = f.dispute;

CREATE VIEW addend AS
SELECT run, number, 'all' AS kind, '' AS name, day, raised, shared, alone, disputed, upheld, dismissed, judged, checked,
    overturned, fixed, reverted, audited, confirmed FROM fact
UNION ALL
SELECT run, number, 'category', category, day, raised, shared, alone, disputed, upheld, dismissed, judged, checked,
    overturned, fixed, reverted, audited, confirmed FROM fact
UNION ALL
SELECT f.run, f.number, 'reviewer', o.reviewer, day, raised, shared, alone, disputed, upheld, dismissed, judged,
    checked, overturned, fixed, reverted, audited, confirmed
FROM fact f JOIN opinion o ON o.run = f.run AND o.number = f.number AND o.said = 'raised'
UNION ALL
SELECT f.run, f.number, 'model', o.model, day, raised, shared, alone, disputed, upheld, dismissed, judged, checked,
    overturned, fixed, reverted, audited, confirmed
FROM fact f JOIN opinion o ON o.run = f.run AND o.number = f.number AND o.said = 'raised'
WHERE NOT EXISTS (SELECT 1 FROM opinion p WHERE p.run = o.run AND p.number = o.number AND p.reviewer < o.reviewer
    AND p.model = o.model AND p.said = 'raised')
UNION ALL
SELECT run, number, 'judge', judge, day, raised, shared, alone, disputed, upheld, dismissed, judged, checked,
    overturned, fixed, reverted, audited, confirmed FROM ruling_fact
UNION ALL
SELECT run, number, 'judge_model', model, day, raised, shared, alone, disputed, upheld, dismissed, judged, checked,
    overturned, fixed, reverted, audited, confirmed FROM ruling_fact;

CREATE VIEW comparison AS
SELECT m.run, m.number, 'reviewer' AS kind, x.reviewer AS one, y.reviewer AS other, m.day,
    1 AS compared, x.said <> 'silent' AND y.said <> 'silent' AS agreed
FROM measured m
    JOIN opinion x ON x.run = m.run AND x.number = m.number
    JOIN opinion y ON y.run = m.run AND y.number = m.number AND y.reviewer > x.reviewer
WHERE x.said <> 'silent' OR y.said <> 'silent'
UNION ALL
SELECT m.run, m.number, 'judge', x.judge, y.judge, m.day, 1, x.side = y.side
FROM measured m
    JOIN judgement x ON x.dispute = m.dispute
    JOIN judgement y ON y.dispute = m.dispute AND y.judge > x.judge
WHERE x.side IS NOT NULL AND y.side IS NOT NULL
UNION ALL
SELECT m.run, m.number, 'judge', min(x.judge, a.judge), max(x.judge, a.judge), m.day, 1, x.side = a.side
FROM measured m
    JOIN judgement x ON x.dispute = m.dispute
    JOIN audit a ON a.dispute = m.dispute AND a.judge <> x.judge
WHERE x.side IS NOT NULL AND a.side IS NOT NULL;
