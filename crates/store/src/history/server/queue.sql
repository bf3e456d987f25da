-- The runs that wait for a worker. `glee review --submit` adds them, and `glee worker` takes them. pgmq keeps a message a
-- run, which is invisible while a lease on it holds. How often the message was read is the fence: what a worker does under
-- an older fence is refused.
--
-- A worker's role has the functions only, and reaches the log of a repository only with the fence of a run that it
-- carries. Each function locks the places of the tenant, the message and the submission in this order, as far as it needs
-- them.
DO $$ BEGIN
    CREATE ROLE glee_submitter NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;
DO $$ BEGIN
    CREATE ROLE glee_worker NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;
GRANT glee_reader TO glee_submitter;

SELECT pgmq.create('urgent');
SELECT pgmq.create('work');

-- After `lease` without a renewal, another worker takes a run over. A run that was claimed `claims` times fails. A submission
-- is kept for the time `keep` after its end.
CREATE TABLE glee.fleet (
    lease  interval NOT NULL DEFAULT '60 s',
    claims int NOT NULL DEFAULT 5,
    keep   interval NOT NULL DEFAULT '90 d'
);
INSERT INTO glee.fleet DEFAULT VALUES;

-- How many runs of a tenant are in a queue at once. A later run waits behind so many runs of each other tenant, and not
-- behind all that they submitted.
-- `month_usd` is what all runs in the repositories of the tenant may cost in a month; NULL: any amount.
CREATE TABLE glee.places (tenant name PRIMARY KEY, places int NOT NULL DEFAULT 64, month_usd numeric);

-- A worker takes the run if it has all of its `labels`. `commit` is NULL for a pull request. `msg` is NULL while the run waits for a place; `fence`, `worker` and `until` are
-- those of the newest claim.
CREATE TABLE glee.submission (
    run        text PRIMARY KEY,
    n          bigint GENERATED ALWAYS AS IDENTITY,
    repository int NOT NULL REFERENCES glee.repository ON DELETE CASCADE,
    tenant     name NOT NULL REFERENCES glee.places,
    queue      text NOT NULL,
    by         name NOT NULL DEFAULT session_user,
    submitted  timestamptz NOT NULL DEFAULT clock_timestamp(),
    remote     text NOT NULL,
    commit     text,
    folder     text NOT NULL,
    args       text[] NOT NULL,
    labels     text[] NOT NULL DEFAULT '{}',
    msg        bigint,
    fence      int,
    worker     text,
    until      timestamptz,
    waits_for  text,
    stopped    timestamptz,
    ended      timestamptz,
    exit       int,
    failed     text
);
CREATE INDEX submission_waiting ON glee.submission (tenant, queue, n) WHERE msg IS NULL AND ended IS NULL;
CREATE INDEX submission_recent ON glee.submission (submitted DESC);
CREATE INDEX submission_open ON glee.submission (tenant, queue) WHERE ended IS NULL;
CREATE INDEX submission_ended ON glee.submission (ended);
ALTER TABLE glee.submission ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON glee.submission FOR SELECT USING (repository IN (SELECT id FROM glee.repository));

-- How many calls of a vendor run at once on all workers (NULL: any number), and until when no call begins.
CREATE TABLE glee.vendor (
    name       text PRIMARY KEY,
    permits    int,
    cool_until timestamptz NOT NULL DEFAULT '-infinity'
);
CREATE TABLE glee.permit (
    vendor text NOT NULL REFERENCES glee.vendor,
    run    text NOT NULL,
    fence  int NOT NULL,
    call   text NOT NULL,
    until  timestamptz NOT NULL,
    PRIMARY KEY (vendor, run, fence, call)
);

-- Why no run of the tenant begins in this month (UTC); NULL if one may. The costs are those that the appends add up.
CREATE FUNCTION glee.over_budget(tenant name) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('the tenant %s has spent %s USD in %s, and may spend %s USD a month', p.tenant, round(spent.usd, 2),
            to_char(month.first, 'YYYY-MM'), p.month_usd)
        FROM glee.places p, date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC') AS month (first), LATERAL (
            SELECT coalesce(sum(t.counts[6]), 0) / 1000000 AS usd
                FROM glee.tally t JOIN glee.repository r ON r.id = t.repository
                WHERE r.tenant = p.tenant AND t.kind = 'call' AND t.day >= month.first::date) AS spent
        WHERE p.tenant = over_budget.tenant AND p.month_usd IS NOT NULL AND spent.usd >= p.month_usd
$$;

-- Puts the first waiting runs of a tenant into their queues, as far as there are places. If the tenant is over its budget,
-- they end.
CREATE FUNCTION glee.admit(tenant name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    most int; q text; s record; over text;
BEGIN
    SELECT p.places INTO most FROM glee.places p WHERE p.tenant = admit.tenant FOR NO KEY UPDATE;
    over := glee.over_budget(tenant);
    IF over IS NOT NULL THEN
        UPDATE glee.submission w SET ended = clock_timestamp(), exit = 75, failed = over
            WHERE w.tenant = admit.tenant AND w.msg IS NULL AND w.ended IS NULL;
        RETURN;
    END IF;
    FOREACH q IN ARRAY ARRAY['urgent', 'work'] LOOP
        FOR s IN SELECT w.run, w.labels FROM glee.submission w
            WHERE w.tenant = admit.tenant AND w.queue = q AND w.msg IS NULL AND w.ended IS NULL ORDER BY w.n
            LIMIT greatest(0, most - (SELECT count(*) FROM glee.submission o
                WHERE o.tenant = admit.tenant AND o.queue = q AND o.msg IS NOT NULL AND o.ended IS NULL)) LOOP
            UPDATE glee.submission w SET msg = (SELECT pgmq.send(q, jsonb_build_object('run', s.run, 'labels', s.labels)))
                WHERE w.run = s.run;
        END LOOP;
    END LOOP;
END $$;

CREATE FUNCTION glee.submit(
    repository int, run text, urgent bool, remote text, commit text, folder text, args text[], labels text[] DEFAULT '{}'
) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    owner name;
BEGIN
    SELECT r.tenant INTO owner FROM glee.repository r WHERE r.id = submit.repository AND glee.sees(r.tenant);
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no repository %', repository USING ERRCODE = 'insufficient_privilege';
    END IF;
    INSERT INTO glee.places (tenant) VALUES (owner) ON CONFLICT DO NOTHING;
    PERFORM 1 FROM glee.places p WHERE p.tenant = owner FOR NO KEY UPDATE;
    INSERT INTO glee.submission (run, repository, tenant, queue, remote, commit, folder, args, labels)
        VALUES (submit.run, submit.repository, owner, CASE WHEN urgent THEN 'urgent' ELSE 'work' END,
            submit.remote, submit.commit, submit.folder, submit.args, submit.labels);
    PERFORM glee.admit(owner);
END $$;

-- Ends a submission, and forgets some of those that ended long ago.
CREATE FUNCTION glee.close(run text, exit int, failed text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    s glee.submission;
BEGIN
    UPDATE glee.submission w SET ended = clock_timestamp(), exit = close.exit, failed = close.failed, until = NULL,
        waits_for = NULL WHERE w.run = close.run RETURNING * INTO s;
    DELETE FROM glee.permit p WHERE p.run = close.run;
    IF s.msg IS NOT NULL THEN
        PERFORM pgmq.delete(s.queue, s.msg);
    END IF;
    DELETE FROM glee.submission w WHERE w.run IN (SELECT o.run FROM glee.submission o, glee.fleet f
        WHERE o.ended < clock_timestamp() - f.keep ORDER BY o.ended LIMIT 10 FOR UPDATE OF o SKIP LOCKED);
    PERFORM glee.admit(s.tenant);
END $$;

-- Reads the first message of a queue whose labels are all among the given ones. `pgmq.read` cannot ask for that.
CREATE FUNCTION glee.read(queue text, lease interval, labels text[], OUT msg_id bigint, OUT read_ct int, OUT run text)
RETURNS SETOF record LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY EXECUTE format(
        $sql$ WITH next AS (
            SELECT q.msg_id FROM pgmq.%1$I q WHERE q.vt <= clock_timestamp() AND q.message -> 'labels' <@ $2
                ORDER BY q.msg_id LIMIT 1 FOR UPDATE SKIP LOCKED)
        UPDATE pgmq.%1$I q SET vt = clock_timestamp() + $1, read_ct = q.read_ct + 1, last_read_at = clock_timestamp()
            FROM next WHERE q.msg_id = next.msg_id RETURNING q.msg_id, q.read_ct, q.message ->> 'run' $sql$, 'q_' || queue
    ) USING lease, to_jsonb(labels);
END $$;

-- Takes the next run that asks for no other than these labels, for the time of a lease. Returns a row of NULLs if none
-- waits.
CREATE FUNCTION glee.claim(worker text, labels text[] DEFAULT '{}', OUT run text, OUT fence int) RETURNS record
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    q text; m record; s glee.submission; f glee.fleet; over text;
BEGIN
    SELECT * INTO f FROM glee.fleet;
    FOREACH q IN ARRAY ARRAY['urgent', 'work'] LOOP
        LOOP
            SELECT * INTO m FROM glee.read(q, f.lease, labels);
            EXIT WHEN NOT FOUND;
            SELECT * INTO s FROM glee.submission w WHERE w.run = m.run FOR UPDATE;
            IF NOT FOUND THEN
                -- The repository was removed.
                PERFORM pgmq.delete(q, m.msg_id);
                CONTINUE;
            END IF;
            over := glee.over_budget(s.tenant);
            IF s.stopped IS NOT NULL OR m.read_ct > f.claims OR over IS NOT NULL THEN
                -- The message and the submission are locked, so nothing waits for the places here: a later claim ends
                -- the run.
                PERFORM 1 FROM glee.places p WHERE p.tenant = s.tenant FOR NO KEY UPDATE SKIP LOCKED;
                CONTINUE WHEN NOT FOUND;
            END IF;
            IF s.stopped IS NOT NULL THEN
                PERFORM glee.close(m.run, 143, 'it was stopped');
            ELSIF m.read_ct > f.claims THEN
                PERFORM glee.close(m.run, 4, format('%s workers took it, and none of them ended it', f.claims)
                    || coalesce(E'\n' || s.failed, ''));
            ELSIF over IS NOT NULL THEN
                PERFORM glee.close(m.run, 75, over);
            ELSE
                UPDATE glee.submission w SET fence = m.read_ct, worker = claim.worker, waits_for = NULL,
                    until = clock_timestamp() + f.lease WHERE w.run = m.run;
                DELETE FROM glee.permit p WHERE p.run = m.run;
                run := m.run;
                fence := m.read_ct;
                RETURN;
            END IF;
        END LOOP;
    END LOOP;
END $$;

-- Fails if another worker has taken the run over. Otherwise none does before the end of the transaction.
CREATE FUNCTION glee.carried(run text, fence int) RETURNS glee.submission
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    s glee.submission;
BEGIN
    SELECT * INTO s FROM glee.submission w
        WHERE w.run = carried.run AND w.fence = carried.fence AND w.ended IS NULL FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'another worker carries run %', run USING ERRCODE = 'GL001';
    END IF;
    RETURN s;
END $$;

-- What a worker needs to know of the run that it carries.
CREATE FUNCTION glee.claimed(
    run text, fence int, OUT repository int, OUT remote text, OUT commit text, OUT folder text,
    OUT args text[], OUT labels text[]
) RETURNS record
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    SELECT s.repository, s.remote, s.commit, s.folder, s.args, s.labels INTO repository, remote, commit, folder, args, labels
        FROM glee.carried(run, fence) s;
END $$;

-- Holds the run for another lease, and its permits. Returns the lease in milliseconds; NULL if the run was taken over or
-- stopped.
CREATE FUNCTION glee.renew(run text, fence int) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    length interval := (SELECT f.lease FROM glee.fleet f);
    s glee.submission;
    n int;
BEGIN
    SELECT * INTO s FROM glee.submission w WHERE w.run = renew.run AND w.fence = renew.fence
        AND w.ended IS NULL AND w.stopped IS NULL;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    EXECUTE format('UPDATE pgmq.%I SET vt = clock_timestamp() + $1 WHERE msg_id = $2 AND read_ct = $3', 'q_' || s.queue)
        USING length, s.msg, fence;
    GET DIAGNOSTICS n = ROW_COUNT;
    IF n = 0 THEN
        RETURN NULL;
    END IF;
    UPDATE glee.submission w SET until = clock_timestamp() + length WHERE w.run = renew.run;
    UPDATE glee.permit p SET until = clock_timestamp() + length WHERE p.run = renew.run AND p.fence = renew.fence;
    RETURN extract(epoch FROM length) * 1000;
END $$;

-- Only workers with the label, too, take the run from now on.
CREATE FUNCTION glee.require(run text, fence int, label text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    s glee.submission := glee.carried(run, fence);
BEGIN
    s.labels := s.labels || label;
    UPDATE glee.submission w SET labels = s.labels WHERE w.run = require.run;
    EXECUTE format('UPDATE pgmq.%I SET message = jsonb_build_object(''run'', $1, ''labels'', $2) WHERE msg_id = $3',
        'q_' || s.queue) USING s.run, s.labels, s.msg;
END $$;

-- Ends the run of a worker. Without an exit code, another worker takes it, unless it was stopped. `failed` says what went
-- wrong.
CREATE FUNCTION glee.finish(run text, fence int, exit int, failed text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    s glee.submission;
BEGIN
    SELECT * INTO s FROM glee.submission w WHERE w.run = finish.run;
    PERFORM 1 FROM glee.places p WHERE p.tenant = s.tenant FOR NO KEY UPDATE;
    EXECUTE format('SELECT 1 FROM pgmq.%I WHERE msg_id = $1 FOR UPDATE', 'q_' || s.queue) USING s.msg;
    s := glee.carried(run, fence);
    IF exit IS NOT NULL THEN
        PERFORM glee.close(run, exit, failed);
    ELSIF s.stopped IS NOT NULL THEN
        PERFORM glee.close(run, 143, 'it was stopped');
    ELSE
        PERFORM pgmq.set_vt(s.queue, s.msg, 0);
        UPDATE glee.submission w SET until = NULL, waits_for = NULL, failed = finish.failed WHERE w.run = finish.run;
        DELETE FROM glee.permit p WHERE p.run = finish.run;
    END IF;
END $$;

-- Stops a run. Returns false if it has ended. A worker that carries it ends its agents at its next renewal.
CREATE FUNCTION glee.stop(run text) RETURNS bool
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    s glee.submission;
BEGIN
    SELECT w.* INTO s FROM glee.submission w JOIN glee.repository r ON r.id = w.repository
        WHERE w.run = stop.run AND glee.sees(r.tenant);
    IF NOT FOUND OR s.ended IS NOT NULL THEN
        RETURN false;
    END IF;
    PERFORM 1 FROM glee.places p WHERE p.tenant = s.tenant FOR NO KEY UPDATE;
    -- It may have got a place meanwhile.
    SELECT w.msg INTO s.msg FROM glee.submission w WHERE w.run = stop.run;
    IF s.msg IS NOT NULL THEN
        EXECUTE format('SELECT 1 FROM pgmq.%I WHERE msg_id = $1 FOR UPDATE', 'q_' || s.queue) USING s.msg;
    END IF;
    UPDATE glee.submission w SET stopped = clock_timestamp() WHERE w.run = stop.run AND w.ended IS NULL RETURNING * INTO s;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    IF s.until IS NULL OR s.until < clock_timestamp() THEN
        PERFORM glee.close(run, 143, 'it was stopped');
    END IF;
    RETURN true;
END $$;

-- Lets a call of a vendor begin. Returns 0 if it may, and otherwise after how many milliseconds to ask again.
CREATE FUNCTION glee.permit(run text, fence int, vendor text, call text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    s glee.submission := glee.carried(run, fence);
    v glee.vendor; used bigint; ms bigint := 0;
BEGIN
    SELECT * INTO v FROM glee.vendor w WHERE w.name = permit.vendor FOR UPDATE;
    IF v.cool_until > clock_timestamp() THEN
        ms := ceil(extract(epoch FROM least(v.cool_until - clock_timestamp(), '30 s')) * 1000);
    ELSIF v.permits IS NOT NULL THEN
        SELECT count(*) INTO used FROM glee.permit p WHERE p.vendor = permit.vendor AND p.until > clock_timestamp();
        IF used >= v.permits THEN
            ms := 100;
        ELSE
            INSERT INTO glee.permit (vendor, run, fence, call, until)
                SELECT permit.vendor, permit.run, permit.fence, permit.call, clock_timestamp() + f.lease FROM glee.fleet f
                ON CONFLICT DO NOTHING;
        END IF;
    END IF;
    IF s.waits_for IS DISTINCT FROM nullif(permit.vendor, CASE WHEN ms = 0 THEN permit.vendor END) THEN
        UPDATE glee.submission w SET waits_for = CASE WHEN ms > 0 THEN permit.vendor END WHERE w.run = permit.run;
    END IF;
    RETURN ms;
END $$;

CREATE FUNCTION glee.give_back(run text, fence int, vendor text, call text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    DELETE FROM glee.permit p WHERE p.vendor = give_back.vendor AND p.run = give_back.run AND p.fence = give_back.fence
        AND p.call = give_back.call
$$;

-- No call of the vendor begins before `ms` milliseconds are over, on any worker.
CREATE FUNCTION glee.cool(run text, fence int, vendor text, ms bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM glee.carried(run, fence);
    INSERT INTO glee.vendor (name, cool_until) VALUES (cool.vendor, clock_timestamp() + make_interval(secs => ms / 1000.0))
        ON CONFLICT (name) DO UPDATE SET cool_until = greatest(glee.vendor.cool_until, EXCLUDED.cool_until);
END $$;

-- Sets how many calls of a vendor may run at once; NULL: any number. Only the owner may.
CREATE FUNCTION glee.limit_vendor(vendor text, permits int) RETURNS void LANGUAGE sql AS $$
    INSERT INTO glee.vendor (name, permits) VALUES (vendor, permits)
        ON CONFLICT (name) DO UPDATE SET permits = EXCLUDED.permits
$$;

-- Sets what the runs of a tenant may cost in a month, in USD; NULL: any amount. Returns nothing if there is no such tenant.
-- Only the owner may.
CREATE FUNCTION glee.limit_tenant(tenant name, month_usd numeric) RETURNS SETOF name LANGUAGE sql AS $$
    INSERT INTO glee.places AS p (tenant, month_usd)
        SELECT limit_tenant.tenant, limit_tenant.month_usd WHERE limit_tenant.tenant = 'glee_reader'
            OR EXISTS (SELECT 1 FROM glee.tenant t WHERE t.role = limit_tenant.tenant)
        ON CONFLICT (tenant) DO UPDATE SET month_usd = EXCLUDED.month_usd RETURNING p.tenant
$$;

-- The log of the repository of a run, for the worker that carries it.
CREATE FUNCTION glee.claim_hold(run text, fence int) RETURNS bool
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    s glee.submission := glee.carried(run, fence);
    stale bool;
BEGIN
    SELECT r.stale INTO stale FROM glee.repository r WHERE r.id = s.repository FOR NO KEY UPDATE;
    RETURN stale;
END $$;

CREATE FUNCTION glee.claim_append(
    run text, fence int, base bigint, head text, runs text[], seqs bigint[], ats text[], bodies text[],
    hashes text[], views jsonb
) RETURNS bool
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    s glee.submission := glee.carried(run, fence);
BEGIN
    RETURN glee.add(s.repository, base, head, runs, seqs, ats, bodies, hashes, views);
END $$;

CREATE FUNCTION glee.claim_records(run text, fence int, first bigint, most bigint) RETURNS SETOF glee.event
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    s glee.submission := glee.carried(run, fence);
BEGIN
    RETURN QUERY SELECT e.* FROM glee.event e WHERE e.repository = s.repository AND e.id >= first ORDER BY e.id LIMIT most;
END $$;

-- Whether a process works on the run: one that holds it by its connection, or a worker whose lease holds.
CREATE FUNCTION glee.works(repository int, run text) RETURNS bool
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT glee.is_held(repository, run) OR EXISTS (SELECT 1 FROM glee.submission s
        WHERE s.run = works.run AND s.repository = works.repository AND s.until > clock_timestamp())
$$;

REVOKE ALL ON SCHEMA pgmq FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA glee, pgmq FROM PUBLIC;
GRANT USAGE ON SCHEMA glee TO glee_worker;
GRANT SELECT ON glee.version TO glee_worker;
GRANT SELECT ON glee.submission TO glee_reader;
GRANT EXECUTE ON FUNCTION glee.works TO glee_reader;
GRANT EXECUTE ON FUNCTION glee.submit, glee.stop TO glee_submitter;
GRANT EXECUTE ON FUNCTION glee.claim, glee.claimed, glee.renew, glee.require, glee.finish, glee.permit, glee.give_back, glee.cool,
    glee.claim_hold, glee.claim_append, glee.claim_records TO glee_worker;
