-- A finding of a reused answer repeats a finding of an earlier run. All findings with the same origin are one problem, and
-- a problem counts once. The origin of a problem is its first finding. A finding that repeats no other finding is its own
-- origin. The table `opinion` has the opinions about a problem under the run and the number of the origin.
ALTER TABLE measured ADD COLUMN origin_run TEXT NOT NULL DEFAULT '';
ALTER TABLE measured ADD COLUMN origin INTEGER NOT NULL DEFAULT 0;
UPDATE measured SET origin_run = run, origin = number;
CREATE INDEX measured_origin ON measured (origin_run, origin, dispute);
CREATE INDEX measured_implemented ON measured (origin_run, origin) WHERE implemented = 1;

DROP VIEW addend;
DROP VIEW comparison;
DROP VIEW ruling_fact;
DROP VIEW fact;

-- A problem. `dispute` is the last dispute with a decision, or else the last dispute. `repair` is 1 if the last change that
-- fixed the problem stands, 2 if this change was reverted, and NULL if no change fixed the problem. `max` selects the last
-- row without a sort. Each update of a sum reads this view many times, and sorts are slow.
CREATE VIEW problem AS
SELECT m.run, m.number, m.day, m.category,
    ifnull(
        (SELECT max(d.dispute) FROM measured d INDEXED BY measured_origin
         WHERE d.origin_run = m.run AND d.origin = m.number AND d.dispute > 0 AND d.side IS NOT NULL),
        (SELECT max(d.dispute) FROM measured d INDEXED BY measured_origin
         WHERE d.origin_run = m.run AND d.origin = m.number AND d.dispute > 0)) AS dispute,
    (SELECT 1 + (last.undone OR EXISTS (SELECT 1 FROM measured r INDEXED BY measured_reverses
        WHERE r.run = last.run AND r.reverses = last.number AND r.reverses IS NOT NULL AND r.number <> last.number
            AND r.fixed))
     FROM (SELECT x.undone, x.run, x.number, max(x.day || ' ' || x.run || printf(' %010d', x.number))
           FROM measured x INDEXED BY measured_implemented
           WHERE x.origin_run = m.run AND x.origin = m.number AND x.implemented = 1 AND x.fixed) last) AS repair
FROM measured m WHERE m.origin_run = m.run AND m.origin = m.number;

-- What one problem adds to the sums of all findings, of its category, and of the reviewers that raised it.
CREATE VIEW fact AS
SELECT p.run, p.number, p.day, p.category,
    1 AS raised,
    EXISTS (SELECT 1 FROM opinion o WHERE o.run = p.run AND o.number = p.number LIMIT 1 OFFSET 1) AS shared,
    (SELECT count(*) > 1 AND total(o.said <> 'silent') = 1 FROM opinion o
     WHERE o.run = p.run AND o.number = p.number) AS alone,
    p.dispute IS NOT NULL AS disputed,
    d.side IS 'upheld' AS upheld,
    d.side IS 'dismissed' AS dismissed,
    d.judged IS NOT NULL AS judged,
    d.judged IS NOT NULL AND d.person IS NOT NULL AS checked,
    ifnull(d.judged <> d.person, 0) AS overturned,
    p.repair IS NOT NULL AS fixed,
    p.repair IS 2 AS reverted,
    (SELECT count(a.side) FROM audit a WHERE a.dispute = p.dispute AND d.judged IS NOT NULL) AS audited,
    (SELECT count(*) FROM audit a WHERE a.dispute = p.dispute AND a.side = d.judged) AS confirmed
FROM problem p LEFT JOIN measured d ON d.dispute = p.dispute;

-- The same for each judge that ruled on a dispute about the problem: here the decision is the judge's own.
CREATE VIEW ruling_fact AS
SELECT f.run, f.number, f.day, j.judge, j.model, f.raised, f.shared, f.alone, f.disputed,
    j.side IS 'upheld' AS upheld,
    j.side IS 'dismissed' AS dismissed,
    j.side IS NOT NULL AS judged,
    j.side IS NOT NULL AND d.person IS NOT NULL AS checked,
    ifnull(j.side <> d.person, 0) AS overturned,
    f.fixed, f.reverted,
    (SELECT count(a.side) FROM audit a
     WHERE a.dispute = d.dispute AND a.judge <> j.judge AND j.side IS NOT NULL) AS audited,
    (SELECT count(*) FROM audit a
     WHERE a.dispute = d.dispute AND a.judge <> j.judge AND a.side = j.side) AS confirmed
FROM fact f
    JOIN measured d INDEXED BY measured_origin ON d.origin_run = f.run AND d.origin = f.number AND d.dispute > 0
    JOIN judgement j ON j.dispute = d.dispute;

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
    JOIN measured d INDEXED BY measured_origin ON d.origin_run = m.run AND d.origin = m.number AND d.dispute > 0
    JOIN judgement x ON x.dispute = d.dispute
    JOIN judgement y ON y.dispute = d.dispute AND y.judge > x.judge
WHERE x.side IS NOT NULL AND y.side IS NOT NULL
UNION ALL
SELECT m.run, m.number, 'judge', min(x.judge, a.judge), max(x.judge, a.judge), m.day, 1, x.side = a.side
FROM measured m
    JOIN measured d INDEXED BY measured_origin ON d.origin_run = m.run AND d.origin = m.number AND d.dispute > 0
    JOIN judgement x ON x.dispute = d.dispute
    JOIN audit a ON a.dispute = d.dispute AND a.judge <> x.judge
WHERE x.side IS NOT NULL AND a.side IS NOT NULL;
