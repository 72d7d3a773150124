-- The outbox of Apus: a backend publishes events inside its own transactions, and 'apus relay' moves them to RabbitMQ.
-- To be run by the owner of the database; it may be run again, and changes nothing then.
BEGIN;
SET LOCAL client_min_messages = warning;
-- The letters APUS, then OUTB: two who run it at once take turns.
SELECT pg_advisory_xact_lock(4706941543310087234);
CREATE SCHEMA IF NOT EXISTS apus_outbox;

-- Rows that are committed and not yet with RabbitMQ. Rows of one key are moved in the order of their numbers.
CREATE TABLE IF NOT EXISTS apus_outbox.event (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key text NOT NULL,
    event jsonb NOT NULL,
    added timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (
    -- All rows are deleted soon: vacuum by their count, not by the share of a table that is nearly empty.
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0
);

-- Rows that make no event, each with the reason. Correct one and publish it again, or delete it.
CREATE TABLE IF NOT EXISTS apus_outbox.refused (
    number bigint PRIMARY KEY,
    key text NOT NULL,
    event jsonb NOT NULL,
    added timestamptz NOT NULL,
    reason text NOT NULL,
    refused timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Publishes an event when the transaction that calls this commits.
--   type    for example 'push.requested'
--   data    its members, as deploy/publishing.md has them
--   key     events of one key keep their order; by default that of their dataset or record
--   id      names the event among those of its source; a second one of the same id is the same event
--   time    when the change happened
-- It returns the id.
CREATE OR REPLACE FUNCTION apus_outbox.publish(
    type text, data jsonb, key text DEFAULT NULL, id text DEFAULT gen_random_uuid()::text,
    source text DEFAULT '/postgresql/' || current_database(), "time" timestamptz DEFAULT clock_timestamp()
) RETURNS text LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    -- In plpgsql because a session plans this once; an SQL function is planned by each statement that calls it.
    INSERT INTO apus_outbox.event (key, event)
    VALUES (
        coalesce(
            $3, ($2 ->> 'identityId') || '/' || ($2 ->> 'datasetName'),
            ($2 ->> 'recordType') || '/' || ($2 ->> 'recordName'), $4),
        jsonb_build_object(
            'specversion', '1.0', 'id', $4, 'source', $5, 'type', $1,
            'time', to_char($6 AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'data', $2));
    RETURN $4;
END
$$;

-- Asks for a push to the devices of users when the transaction that calls this commits; returns the event's id.
CREATE OR REPLACE FUNCTION apus_outbox.push(
    app text, user_ids text[], notification jsonb, options jsonb DEFAULT '{}'
) RETURNS text LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN apus_outbox.publish(
        'push.requested',
        jsonb_build_object('app', $1, 'userIds', to_jsonb($2), 'notification', $3, 'options', $4));
END
$$;

-- Wakes the relays at the commit. Several in one transaction are one.
CREATE OR REPLACE FUNCTION apus_outbox.wake() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pg_notify('apus_outbox', '');
    RETURN NULL;
END
$$;
DROP TRIGGER IF EXISTS wake ON apus_outbox.event;
CREATE TRIGGER wake AFTER INSERT ON apus_outbox.event FOR EACH STATEMENT EXECUTE FUNCTION apus_outbox.wake();

-- Takes the oldest rows whose keys no other relay holds, until the transaction ends.
--
-- A relay holds keys, not rows: another could move the second row of a key while the first is under way. Keys share 2048
-- locks, because all sessions of a server share a table of some thousand. The second statement sees what was committed
-- before it, so rows of a key that another relay has just let go are not taken again. Rows before the number `beginning`
-- are left out. A table of dead rows looks small to the planner, which would read all of it.
CREATE OR REPLACE FUNCTION apus_outbox.take(maximum integer, beginning bigint DEFAULT 0)
RETURNS TABLE (number bigint, event text, waited_milliseconds bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off AS $$
#variable_conflict use_column
DECLARE
    candidate record;
    held bigint[] := '{}';
    others integer[] := '{}';
    count integer := 0;
BEGIN
    FOR candidate IN
        SELECT e.number, hashtext(e.key) & 2047 AS lock FROM apus_outbox.event e
        WHERE e.number >= beginning ORDER BY e.number LIMIT 8 * maximum
    LOOP
        -- One that was refused stays so, lest a later row of its keys goes first.
        CONTINUE WHEN candidate.lock = ANY (others);
        IF pg_try_advisory_xact_lock(1095783763, candidate.lock) THEN
            held := held || candidate.number;
            count := count + 1;
            EXIT WHEN count = maximum;
        ELSE
            others := others || candidate.lock;
        END IF;
    END LOOP;
    RETURN QUERY
        SELECT e.number, e.event::text,
            (extract(epoch FROM clock_timestamp() - e.added) * 1000)::bigint
        FROM apus_outbox.event e WHERE e.number = ANY (held) ORDER BY e.number;
END
$$;

-- How long ago the oldest row was written, in milliseconds; NULL if there is none.
CREATE OR REPLACE FUNCTION apus_outbox.waited() RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT (extract(epoch FROM clock_timestamp() - e.added) * 1000)::bigint
    FROM apus_outbox.event e ORDER BY e.number LIMIT 1
$$;

-- Deletes the rows that RabbitMQ has, and sets those aside that make no event.
CREATE OR REPLACE FUNCTION apus_outbox.finish(published bigint[], refused bigint[], reasons text[])
RETURNS void LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    WITH gone AS (
        DELETE FROM apus_outbox.event e USING unnest($2, $3) r (number, reason) WHERE e.number = r.number
        RETURNING e.number, e.key, e.event, e.added, r.reason
    )
    INSERT INTO apus_outbox.refused (number, key, event, added, reason)
    SELECT g.number, g.key, g.event, g.added, g.reason FROM gone g ON CONFLICT DO NOTHING;
    DELETE FROM apus_outbox.event e WHERE e.number = ANY ($1);
$$;

-- What a relay has to know before it begins: a problem of the table, or nothing.
CREATE OR REPLACE FUNCTION apus_outbox.problem() RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE
        WHEN c.relkind <> 'r' THEN 'apus_outbox.event is no ordinary table'
        WHEN c.relpersistence <> 'p' THEN 'apus_outbox.event is UNLOGGED, so a crash of PostgreSQL empties it'
        ELSE ''
    END FROM pg_class c WHERE c.oid = 'apus_outbox.event'::regclass
$$;

REVOKE ALL ON SCHEMA apus_outbox FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA apus_outbox FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA apus_outbox FROM PUBLIC;
COMMIT;
