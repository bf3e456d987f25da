-- The pull requests of which webhooks told, each as it was at `updated`. `head` is the commit that is reviewed or was
-- submitted last; NULL while the request is closed or a draft. `run` is that submission.
--
-- A notice that arrives again, or after a newer one, changes nothing. So a host may send it twice and in any order, and
-- nobody gains anything by sending a recorded one again.
CREATE TABLE glee.request (
    repository int NOT NULL REFERENCES glee.repository ON DELETE CASCADE,
    number     bigint NOT NULL,
    head       text,
    updated    timestamptz NOT NULL,
    run        text,
    PRIMARY KEY (repository, number)
);

-- Submits a review of the head, unless it was submitted already, and stops the review of the head before it. Returns
-- whether something was new.
CREATE FUNCTION glee.follow(
    repository int, number bigint, head text, updated timestamptz, run text, remote text, args text[],
    labels text[] DEFAULT '{}'
) RETURNS bool
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    known glee.request;
BEGIN
    PERFORM 1 FROM glee.repository r WHERE r.id = follow.repository AND glee.sees(r.tenant);
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no repository %', repository USING ERRCODE = 'insufficient_privilege';
    END IF;
    INSERT INTO glee.request (repository, number, updated)
        VALUES (follow.repository, follow.number, '-infinity') ON CONFLICT DO NOTHING;
    SELECT * INTO known FROM glee.request r
        WHERE r.repository = follow.repository AND r.number = follow.number FOR UPDATE;
    IF follow.updated < known.updated THEN
        RETURN false;
    END IF;
    UPDATE glee.request r SET updated = follow.updated
        WHERE r.repository = follow.repository AND r.number = follow.number;
    IF follow.head IS NOT DISTINCT FROM known.head THEN
        RETURN false;
    END IF;
    IF known.run IS NOT NULL THEN
        PERFORM glee.stop(known.run);
    END IF;
    IF follow.head IS NOT NULL THEN
        PERFORM glee.submit(follow.repository, follow.run, false, follow.remote, NULL, '', follow.args,
            follow.labels);
    END IF;
    UPDATE glee.request r SET head = follow.head, run = CASE WHEN follow.head IS NULL THEN NULL ELSE follow.run END
        WHERE r.repository = follow.repository AND r.number = follow.number;
    RETURN true;
END $$;

REVOKE ALL ON FUNCTION glee.follow FROM PUBLIC;
GRANT EXECUTE ON FUNCTION glee.follow TO glee_submitter;
