-- What `glee server init` creates, in one transaction. A role that Glee uses reads the tables below the row security, and
-- writes through the functions only: it can add events, and neither change nor remove one.
DO $$ BEGIN
    CREATE ROLE glee_reader NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;
DO $$ BEGIN
    CREATE ROLE glee_writer NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;
GRANT glee_reader TO glee_writer;

CREATE SCHEMA glee;

CREATE TABLE glee.version (schema int NOT NULL);
INSERT INTO glee.version VALUES (1);

-- The roles whose members share repositories. Without a row, all readers see all repositories.
CREATE TABLE glee.tenant (role name PRIMARY KEY);

-- `events` and `hash` are the head of the chain of the repository's events. `title` is for people.
CREATE TABLE glee.repository (
    id     int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant name NOT NULL,
    title  text NOT NULL,
    events bigint NOT NULL DEFAULT 0,
    hash   text NOT NULL DEFAULT '',
    -- Whether the next append has to bring all rows of the views below.
    stale  bool NOT NULL DEFAULT true,
    UNIQUE (id, tenant)
);

-- The names by which machines recognise a repository: hashes of its `project.id`, its root commit and its remote.
CREATE TABLE glee.name (
    tenant     name NOT NULL,
    name       text NOT NULL,
    repository int NOT NULL REFERENCES glee.repository ON DELETE CASCADE,
    PRIMARY KEY (tenant, name)
);
CREATE INDEX name_repository ON glee.name (repository);

-- The events of all runs, as the histories of the machines have them: `id` counts in the repository, `seq` in the run.
-- `by` is the role that recorded the event.
CREATE TABLE glee.event (
    repository int NOT NULL REFERENCES glee.repository ON DELETE CASCADE,
    id         bigint NOT NULL,
    run        text NOT NULL,
    seq        bigint NOT NULL,
    at         text NOT NULL,
    body       text NOT NULL,
    prev       text NOT NULL,
    hash       text NOT NULL,
    by         name NOT NULL DEFAULT session_user,
    PRIMARY KEY (repository, id),
    UNIQUE (repository, run, seq)
);
-- A server without lz4 keeps its default compression.
DO $$ BEGIN
    ALTER TABLE glee.event ALTER COLUMN body SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN NULL; END $$;

-- The views of all repositories. The machine that appends events derives the rows from them, as those of its own history,
-- and the transaction of the append keeps them.
CREATE TABLE glee.run (
    repository int NOT NULL REFERENCES glee.repository ON DELETE CASCADE,
    id         text NOT NULL,
    started    timestamptz NOT NULL,
    ended      timestamptz,
    exit       text,
    target     text NOT NULL,
    by         name NOT NULL DEFAULT session_user,
    PRIMARY KEY (repository, id)
);
CREATE INDEX run_started ON glee.run (started DESC);
CREATE INDEX run_of_repository ON glee.run (repository, started DESC);

-- `body` is the row of the list of disputes in JSON; the columns before it are what lists are filtered by. A role sees whole
-- tenants, so the newest disputes that it sees are the newest ones of each tenant.
CREATE TABLE glee.dispute (
    repository  int NOT NULL,
    tenant      name NOT NULL,
    number      bigint NOT NULL,
    opened      timestamptz NOT NULL,
    open        bool NOT NULL,
    ruling      text,
    disposition text,
    raisers     text[] NOT NULL,
    body        text NOT NULL,
    PRIMARY KEY (repository, number),
    FOREIGN KEY (repository, tenant) REFERENCES glee.repository (id, tenant) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX dispute_opened ON glee.dispute (tenant, opened DESC, number DESC, repository);
CREATE INDEX dispute_open ON glee.dispute (tenant, opened DESC, number DESC, repository) WHERE open;

-- The sums of each day (UTC): of findings by one name, of agreements by two, of calls (kind `call`) by agent and role.
CREATE TABLE glee.tally (
    repository int NOT NULL REFERENCES glee.repository ON DELETE CASCADE,
    kind       text NOT NULL,
    name       text[] NOT NULL,
    day        date NOT NULL,
    counts     bigint[] NOT NULL,
    PRIMARY KEY (repository, kind, name, day)
);

-- `--since` reads the days of one month.
CREATE INDEX tally_day ON glee.tally (day);

-- The sums of each month but those of calls. `day` is its first day.
CREATE TABLE glee.month (LIKE glee.tally, PRIMARY KEY (repository, kind, name, day),
    FOREIGN KEY (repository) REFERENCES glee.repository ON DELETE CASCADE);

-- A body without quotes names the functions that are meant now. A quoted one would be read with the `search_path` of
-- whoever asks, who may have a `pg_has_role` of his own.
CREATE FUNCTION glee.sees(repository_tenant name) RETURNS bool LANGUAGE sql STABLE PARALLEL SAFE
    RETURN pg_has_role(session_user, repository_tenant, 'MEMBER');

-- Who is connected is `session_user`, also in the functions that run as their owner.
ALTER TABLE glee.repository ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON glee.repository FOR SELECT USING (glee.sees(tenant));
ALTER TABLE glee.name ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON glee.name FOR SELECT USING (glee.sees(tenant));
ALTER TABLE glee.event ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON glee.event FOR SELECT USING (repository IN (SELECT id FROM glee.repository));
ALTER TABLE glee.run ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON glee.run FOR SELECT USING (repository IN (SELECT id FROM glee.repository));
ALTER TABLE glee.dispute ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON glee.dispute FOR SELECT USING (glee.sees(tenant));
ALTER TABLE glee.tally ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON glee.tally FOR SELECT USING (repository IN (SELECT id FROM glee.repository));
ALTER TABLE glee.month ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON glee.month FOR SELECT USING (repository IN (SELECT id FROM glee.repository));

-- Finds the repository with one of the names, and gives it the names that it does not have. `project` is the name that
-- the repository's own file claims: another name of the repository has to agree, if it has others. Without such a
-- repository, creates one if `creates`, and otherwise returns NULL.
CREATE FUNCTION glee.open(project text, names text[], title text, creates bool) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    claimed int; found int; owner name; tenants name[];
BEGIN
    SELECT n.repository INTO claimed FROM glee.name n WHERE n.name = project AND glee.sees(n.tenant) ORDER BY 1 LIMIT 1;
    SELECT n.repository INTO found FROM unnest(names) WITH ORDINALITY AS given (name, rank)
        JOIN glee.name n ON n.name = given.name AND glee.sees(n.tenant) ORDER BY given.rank, 1 LIMIT 1;
    IF claimed IS DISTINCT FROM found AND claimed IS NOT NULL
        AND EXISTS (SELECT 1 FROM glee.name n WHERE n.repository = claimed AND n.name <> project) THEN
        RAISE EXCEPTION 'another repository has this project.id';
    END IF;
    found := coalesce(claimed, found);
    IF NOT creates OR found IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM unnest(names || project) AS given (name) WHERE given.name IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM glee.name n WHERE n.repository = found AND n.name = given.name)) THEN
        RETURN found;
    END IF;
    IF NOT pg_has_role(session_user, 'glee_writer', 'MEMBER')
        AND NOT pg_has_role(session_user, 'glee_submitter', 'MEMBER') THEN
        RAISE EXCEPTION 'the role % may not write', session_user USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF found IS NULL THEN
        SELECT array_agg(t.role) INTO tenants FROM glee.tenant t WHERE glee.sees(t.role);
        IF cardinality(tenants) > 1 THEN
            RAISE EXCEPTION 'the role % belongs to several tenants: %', session_user, tenants
                USING HINT = 'a new repository is recorded first by a role of one tenant';
        ELSIF tenants IS NULL AND EXISTS (SELECT 1 FROM glee.tenant) THEN
            RAISE EXCEPTION 'the role % belongs to no tenant', session_user
                USING ERRCODE = 'insufficient_privilege';
        END IF;
        owner := coalesce(tenants[1], 'glee_reader');
        -- Of two machines that open a new repository at the same time, the second one waits here for the first.
        PERFORM pg_advisory_xact_lock(hashtext('glee.open'), hashtext(owner));
        SELECT n.repository INTO found FROM glee.name n
            WHERE n.tenant = owner AND n.name = ANY (names || project) ORDER BY 1 LIMIT 1;
        IF found IS NULL THEN
            INSERT INTO glee.repository (tenant, title) VALUES (owner, open.title) RETURNING id INTO found;
        END IF;
    END IF;
    INSERT INTO glee.name (tenant, name, repository)
        SELECT r.tenant, given.name, r.id FROM glee.repository r, unnest(names || project) AS given (name)
        WHERE r.id = found AND given.name IS NOT NULL ON CONFLICT DO NOTHING;
    RETURN found;
END $$;

-- Holds the log of a repository until the end of the transaction. Returns whether its views are stale.
CREATE FUNCTION glee.hold(repository int) RETURNS bool
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    stale bool;
BEGIN
    SELECT r.stale INTO stale FROM glee.repository r
        WHERE r.id = hold.repository AND glee.sees(r.tenant) FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no repository %', repository USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN stale;
END $$;

-- Appends events after the event `base`, whose hash is `head`, and keeps the rows of the views that they change; NULL: they
-- change none. Each array has an item an event. No program but the machines' reads the bodies. Returns false, and does
-- nothing, if another event is the newest one, if another transaction holds the log, or if the views are stale and `views`
-- has not all rows.
CREATE FUNCTION glee.append(
    repository int, base bigint, head text, runs text[], seqs bigint[], ats text[], bodies text[], hashes text[],
    views jsonb
) RETURNS bool
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM glee.repository r WHERE r.id = append.repository AND glee.sees(r.tenant)) THEN
        RAISE EXCEPTION 'there is no repository %', repository USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN glee.add(repository, base, head, runs, seqs, ats, bodies, hashes, views);
END $$;

-- What `append` does, without the check that the role sees the repository. No role may call it, and who does has set the
-- `search_path`.
CREATE FUNCTION glee.add(
    repository int, base bigint, head text, runs text[], seqs bigint[], ats text[], bodies text[], hashes text[],
    views jsonb
) RETURNS bool
LANGUAGE plpgsql AS $$
DECLARE
    i int; brings_all bool := coalesce((views -> 'all')::bool, false);
BEGIN
    -- Whoever calls holds the database of its machine, for which a process that holds the log may wait. So nothing waits
    -- for the log here.
    PERFORM 1 FROM glee.repository r
        WHERE r.id = add.repository AND r.events = base AND r.hash = head AND (brings_all OR NOT r.stale)
        FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    FOR i IN 1 .. cardinality(bodies) LOOP
        IF seqs[i] > 1 AND NOT EXISTS (SELECT 1 FROM glee.event e
            WHERE e.repository = add.repository AND e.run = runs[i] AND e.seq = seqs[i] - 1) THEN
            RAISE EXCEPTION 'run % has no event %', runs[i], seqs[i] - 1;
        END IF;
        INSERT INTO glee.event (repository, id, run, seq, at, body, prev, hash)
            VALUES (add.repository, base + i, runs[i], seqs[i], ats[i], bodies[i], head, hashes[i]);
        head := hashes[i];
    END LOOP;
    UPDATE glee.repository r SET events = base + cardinality(bodies), hash = head, stale = stale AND NOT brings_all
        WHERE r.id = add.repository;
    IF views IS NULL THEN
        RETURN true;
    END IF;
    IF brings_all THEN
        DELETE FROM glee.dispute d WHERE d.repository = add.repository;
        DELETE FROM glee.tally t WHERE t.repository = add.repository;
        DELETE FROM glee.month m WHERE m.repository = add.repository;
    END IF;
    INSERT INTO glee.run (repository, id, started, ended, exit, target)
        SELECT add.repository, n.* FROM jsonb_to_recordset(views -> 'runs')
            AS n (id text, started timestamptz, ended timestamptz, exit text, target text)
        ON CONFLICT ON CONSTRAINT run_pkey DO UPDATE SET ended = excluded.ended, exit = excluded.exit;
    INSERT INTO glee.dispute (repository, tenant, number, opened, open, ruling, disposition, raisers, body)
        SELECT r.id, r.tenant, n.* FROM glee.repository r, jsonb_to_recordset(views -> 'disputes')
            AS n (number bigint, opened timestamptz, open bool, ruling text, disposition text, raisers text[], body text)
        WHERE r.id = add.repository
        ON CONFLICT ON CONSTRAINT dispute_pkey DO UPDATE SET open = excluded.open, ruling = excluded.ruling,
            disposition = excluded.disposition, raisers = excluded.raisers, body = excluded.body;
    INSERT INTO glee.tally (repository, kind, name, day, counts)
        SELECT add.repository, n.* FROM jsonb_to_recordset(views -> 'tallies')
            AS n (kind text, name text[], day date, counts bigint[])
        ON CONFLICT ON CONSTRAINT tally_pkey DO UPDATE SET counts = excluded.counts;
    INSERT INTO glee.month (repository, kind, name, day, counts)
        SELECT add.repository, n.* FROM jsonb_to_recordset(views -> 'months')
            AS n (kind text, name text[], day date, counts bigint[])
        ON CONFLICT ON CONSTRAINT month_pkey DO UPDATE SET counts = excluded.counts;
    RETURN true;
END $$;

-- Whether a connection works on the run.
CREATE FUNCTION glee.is_held(repository int, run text) RETURNS bool LANGUAGE sql STABLE
    RETURN EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND classid = repository::oid AND objid = (hashtext(run)::bigint & 4294967295)::oid);

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA glee FROM PUBLIC;
GRANT USAGE ON SCHEMA glee TO glee_reader;
GRANT SELECT ON glee.version, glee.repository, glee.name, glee.event, glee.run, glee.dispute, glee.tally, glee.month
    TO glee_reader;
GRANT EXECUTE ON FUNCTION glee.sees, glee.open, glee.is_held TO glee_reader;
GRANT EXECUTE ON FUNCTION glee.hold, glee.append TO glee_writer;
