-- Tables whose changes are events of records: apus_outbox.watch() and what its triggers call.
-- To be run after the outbox itself, by the same role; it may be run again, and changes nothing then.
BEGIN;
SET LOCAL client_min_messages = warning;

-- Whether a text can name a record, a type or a zone (TextRule.name in the sources of Apus).
CREATE OR REPLACE FUNCTION apus_outbox.is_name(value text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT octet_length($1) BETWEEN 1 AND 256 AND $1 !~ '[\u0001-\u001f\u007f-\u009f]'
$$;

-- Refuses a value that no event can carry, and with it the statement.
CREATE OR REPLACE FUNCTION apus_outbox.unfit(relation text, column_name text, problem text)
RETURNS jsonb LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION '%: the column % has %', relation, quote_ident(column_name), problem
        USING ERRCODE = 'program_limit_exceeded', HINT = 'Change the value, or leave the column out: '
            'run what ''apus relay trigger'' prints with the --columns that events need.';
END
$$;

-- Refuses fields that a worker would not take (RecordLimits and EventLimits.bodyBytesMaximum in the sources of Apus).
CREATE OR REPLACE FUNCTION apus_outbox.check_sizes(relation text, fields jsonb)
RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    field record;
    bytes integer;
BEGIN
    FOR field IN SELECT f.key, f.value, jsonb_typeof(f.value) = 'array' AS is_list FROM jsonb_each(fields) f LOOP
        IF field.is_list AND jsonb_array_length(field.value) > 256 THEN
            PERFORM apus_outbox.unfit(relation, field.key, format(
                'a list of %s members; an event takes 256', jsonb_array_length(field.value)));
        END IF;
        SELECT max(CASE
            WHEN jsonb_typeof(m.value) = 'string' THEN octet_length(m.value #>> '{}')
            WHEN m.value ->> 'type' = 'BYTES' THEN octet_length(decode(m.value ->> 'value', 'base64'))
        END) INTO bytes
        FROM jsonb_array_elements(CASE WHEN field.is_list THEN field.value ELSE jsonb_build_array(field.value) END) m;
        IF bytes > 65536 THEN
            PERFORM apus_outbox.unfit(
                relation, field.key, format('a value of %s bytes; an event takes 65536', bytes));
        END IF;
    END LOOP;
    -- The rest of the 4 MiB is for the other members.
    IF octet_length(fields::text) > 4186112 THEN
        RAISE EXCEPTION '%: the row makes an event of % bytes; RabbitMQ and the workers are given 4 MiB at most',
            relation, octet_length(fields::text)
            USING ERRCODE = 'program_limit_exceeded',
                HINT = 'Run what ''apus relay trigger'' prints with the --columns that events need.';
    END IF;
END
$$;

-- The value of a field. It has no search_path of its own because tell_change() has set it.
CREATE OR REPLACE FUNCTION apus_outbox.field(value anyelement, kind text, relation text, column_name text)
RETURNS jsonb LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF value IS NULL THEN RETURN NULL; END IF;
    CASE kind
    WHEN 'float' THEN
        -- The largest doubles stand for the infinities, which JSON lacks; nothing stands for NaN. From 2^53 on a
        -- fraction tells that the digits are the shortest of a double, and not those of an integer.
        RETURN CASE value WHEN 'NaN' THEN NULL WHEN 'Infinity' THEN to_jsonb(1.7976931348623157e308)
            WHEN '-Infinity' THEN to_jsonb(-1.7976931348623157e308)
            ELSE CASE WHEN abs(value) < 9007199254740992 THEN to_jsonb(value)
                ELSE to_jsonb(value::text::numeric + 0.0) END END;
    WHEN 'numeric' THEN
        RETURN CASE WHEN value <> 'NaN'
            THEN to_jsonb(trim_scale(least(greatest(value, -1.7976931348623157e308), 1.7976931348623157e308))) END;
    WHEN 'moment' THEN
        RETURN jsonb_build_object('type', 'TIMESTAMP', 'value', least(
            greatest(floor(extract(epoch FROM value) * 1000), -9223372036854775808), 9223372036854775807));
    WHEN 'bytes' THEN
        RETURN jsonb_build_object('type', 'BYTES', 'value', translate(encode(value, 'base64'), E'\n', ''));
    WHEN 'place' THEN
        IF value[1] BETWEEN -90 AND 90 AND value[0] BETWEEN -180 AND 180 THEN
            RETURN jsonb_build_object('latitude', value[1], 'longitude', value[0]);
        END IF;
        RETURN apus_outbox.unfit(relation, column_name, format('no place: the longitude is %s, from -180 to 180, '
            'and the latitude %s, from -90 to 90', value[0], value[1]));
    END CASE;
END
$$;

-- The value of a field that is a list.
CREATE OR REPLACE FUNCTION apus_outbox.list(value anyarray, kind text, relation text, column_name text)
RETURNS jsonb LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF array_ndims(value) > 1 THEN
        PERFORM apus_outbox.unfit(relation, column_name, 'an array of several dimensions; an event takes one');
    END IF;
    IF kind = 'plain' OR value IS NULL THEN RETURN to_jsonb(value); END IF;
    RETURN (SELECT coalesce(jsonb_agg(apus_outbox.field(m.v, kind, relation, column_name)), '[]')
        FROM unnest(value) m (v));
END
$$;

-- The type below a domain.
CREATE OR REPLACE FUNCTION apus_outbox.base_type(INOUT type oid, INOUT modifier integer)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    WITH RECURSIVE d (oid, modifier) AS (
        SELECT $1, $2
        UNION ALL
        SELECT t.typbasetype, t.typtypmod FROM d JOIN pg_type t ON t.oid = d.oid WHERE t.typtype = 'd'
    )
    SELECT d.oid, d.modifier FROM d JOIN pg_type t ON t.oid = d.oid WHERE t.typtype <> 'd'
$$;

-- The name of that type, without its modifier.
CREATE OR REPLACE FUNCTION apus_outbox.plain_type(type oid) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT format_type(b.type, NULL) FROM apus_outbox.base_type($1, -1) b
$$;

-- What the triggers of watch() do.
--
-- It runs SQL that its arguments hold, so that one function serves all tables: never grant it to anybody. The columns
-- are compared with the catalog first: the owner of a table could put a type with casts of its own under a name.
CREATE OR REPLACE FUNCTION apus_outbox.tell_change() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 AS $$
DECLARE
    relation text := TG_RELID::regclass;
    present text[];
    type text;
    record_name text;
    fields jsonb;
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        RAISE EXCEPTION '%: TRUNCATE does not say which records it deletes, so no event can', relation
            USING ERRCODE = 'feature_not_supported', HINT = format(
                'Use DELETE. To truncate without events: ALTER TABLE %s DISABLE TRIGGER %I.', relation, TG_NAME);
    END IF;
    present := ARRAY(
        SELECT a.attname || ' ' || CASE
            WHEN a.atttypid < 16384 THEN format_type(a.atttypid, NULL) ELSE apus_outbox.plain_type(a.atttypid) END
        FROM pg_attribute a WHERE a.attrelid = TG_RELID AND a.attnum > 0 AND NOT a.attisdropped);
    IF NOT present @> TG_ARGV[2]::text[] THEN
        RAISE EXCEPTION '%: columns have changed since their events were set up: %', relation, (
                SELECT string_agg(c, ', ') FROM unnest(TG_ARGV[2]::text[]) c WHERE c <> ALL (present))
            USING ERRCODE = 'object_not_in_prerequisite_state',
                HINT = 'Run what ''apus relay trigger'' prints again.';
    END IF;
    FOREACH type IN ARRAY TG_ARGV[0]::text[] LOOP
        IF type = 'record.deleted' THEN
            EXECUTE TG_ARGV[3] INTO record_name, fields USING OLD, relation;
        ELSE
            EXECUTE TG_ARGV[3] INTO record_name, fields USING NEW, relation;
        END IF;
        IF NOT apus_outbox.is_name(record_name) THEN
            RAISE EXCEPTION '%: the key % cannot name a record', relation, quote_literal(left(record_name, 64))
                USING ERRCODE = 'program_limit_exceeded',
                    HINT = 'The name of a record has 1 to 256 bytes and no control characters.';
        END IF;
        -- Nothing smaller has a text or a list that is too long.
        IF pg_column_size(fields) > 1024 THEN PERFORM apus_outbox.check_sizes(relation, fields); END IF;
        PERFORM apus_outbox.publish(
            type, TG_ARGV[1]::jsonb || jsonb_build_object('recordName', record_name, 'fields', fields));
    END LOOP;
    RETURN NULL;
END
$$;

-- An SQL expression that makes the value of a field of a value of a type; NULL if no event carries the type.
--
-- Only casts of PostgreSQL and of PostGIS are used: the owner of an enum, or of a table with it, could give it others.
CREATE OR REPLACE FUNCTION apus_outbox.conversion(type oid, modifier integer, column_name text, value text)
RETURNS text LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    base oid;
    element oid;
    extension text;
    kind text;
    is_enum boolean;
BEGIN
    SELECT b.type, b.modifier INTO base, modifier FROM apus_outbox.base_type(type, modifier) b;
    IF base <> type THEN value := format('%s::%s', value, format_type(base, modifier)); END IF;
    SELECT e.oid INTO element FROM pg_type e WHERE e.typarray = base;
    SELECT e.extname, t.typtype = 'e' INTO extension, is_enum
    FROM pg_type t LEFT JOIN pg_depend d ON d.classid = 'pg_type'::regclass AND d.objid = t.oid AND d.deptype = 'e'
        LEFT JOIN pg_extension e ON e.oid = d.refobjid
    WHERE t.oid = coalesce(element, base);
    kind := CASE
        WHEN coalesce(element, base) = ANY ('{text,varchar,bpchar,name,uuid,int2,int4,int8,bool}'::regtype[])
            OR is_enum OR extension = 'citext' THEN 'plain'
        WHEN coalesce(element, base) = ANY ('{float4,float8}'::regtype[]) THEN 'float'
        WHEN coalesce(element, base) = 'numeric'::regtype THEN 'numeric'
        WHEN coalesce(element, base) = ANY ('{timestamptz,timestamp,date}'::regtype[]) THEN 'moment'
        WHEN coalesce(element, base) = 'bytea'::regtype THEN 'bytes'
        WHEN coalesce(element, base) = 'point'::regtype THEN 'place'
        WHEN extension = 'postgis' AND format_type(base, modifier) ~ '(geometry|geography)\(PointZ?M?,4326\)$'
            THEN 'place'
    END;
    IF is_enum OR extension = 'citext' THEN
        value := format('CASE WHEN %1$s IS NOT NULL THEN format(''%%s'', %1$s) END', value);
        IF element IS NOT NULL THEN value := format('(%s)::text[]', value); END IF;
    ELSIF coalesce(element, base) = 'bpchar'::regtype THEN
        -- Without the spaces that fill a char(n).
        value := format('%s::text%s', value, CASE WHEN element IS NOT NULL THEN '[]' ELSE '' END);
    ELSIF extension = 'postgis' THEN
        value := format('%s::%s.geometry::point', value, (
            SELECT t.typnamespace::regnamespace FROM pg_type t WHERE t.oid = base));
    END IF;
    RETURN CASE
        WHEN kind IS NULL THEN NULL
        WHEN kind = 'plain' AND element IS NULL THEN value
        ELSE format('apus_outbox.%s(%s, %L, $2, %L)',
            CASE WHEN element IS NULL THEN 'field' ELSE 'list' END, value, kind, column_name)
    END;
END
$$;

-- An SQL expression that makes the name of a record of a column of its key; NULL if the type cannot be part of one.
CREATE OR REPLACE FUNCTION apus_outbox.key_text(type oid, value text)
RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE
        WHEN t.oid = 'date'::regtype THEN format('(to_jsonb(%s::date) #>> ''{}'')', $2)
        WHEN t.oid = 'bpchar'::regtype THEN format('%s::bpchar::text', $2)
        WHEN t.typtype = 'e' OR t.oid = ANY ('{text,varchar,uuid,int2,int4,int8}'::regtype[]) OR EXISTS (
            SELECT FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid
            WHERE d.classid = 'pg_type'::regclass AND d.objid = t.oid AND d.deptype = 'e' AND e.extname = 'citext')
            THEN format('format(''%%s'', %s)', $2)
    END
    FROM apus_outbox.base_type($1, -1) b JOIN pg_type t ON t.oid = b.type
$$;

-- The names of the columns of a table, in their order.
CREATE OR REPLACE FUNCTION apus_outbox.columns_of(relation regclass) RETURNS text[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute a
    WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped
$$;

-- Refuses what cannot name a type or a zone of records.
CREATE OR REPLACE FUNCTION apus_outbox.check_name(what text, value text) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT apus_outbox.is_name(value) THEN
        RAISE EXCEPTION '% %: expected 1 to 256 bytes without control characters', what, quote_literal(left(value, 64))
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
END
$$;

-- Refuses columns that a table does not have.
CREATE OR REPLACE FUNCTION apus_outbox.check_existence(relation regclass, columns text[]) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    unknown text;
BEGIN
    SELECT n.name INTO unknown FROM unnest(columns) n (name)
    WHERE NOT n.name = ANY (apus_outbox.columns_of(relation)) LIMIT 1;
    IF unknown IS NOT NULL THEN
        RAISE EXCEPTION '% has no column %', relation, quote_ident(unknown)
            USING ERRCODE = 'undefined_column',
                HINT = format('It has %s.', array_to_string(apus_outbox.columns_of(relation), ', '));
    END IF;
END
$$;

-- Whether events carry the columns of a table. A virtual column has no value when a trigger runs.
CREATE OR REPLACE FUNCTION apus_outbox.carried(relation regclass, columns text[])
RETURNS TABLE (name text, type text, is_carried boolean)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT a.attname, format_type(a.atttypid, a.atttypmod) || CASE a.attgenerated WHEN 'v' THEN ' VIRTUAL' ELSE '' END,
        a.attgenerated <> 'v' AND apus_outbox.conversion(a.atttypid, a.atttypmod, a.attname, '') IS NOT NULL
    FROM pg_attribute a WHERE a.attrelid = $1 AND a.attname = ANY ($2) ORDER BY a.attnum
$$;

-- Refuses columns whose types no event carries.
CREATE OR REPLACE FUNCTION apus_outbox.check_types(relation regclass, columns text[]) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    unfit record;
BEGIN
    IF cardinality(columns) NOT BETWEEN 1 AND 256 THEN
        RAISE EXCEPTION '%: % columns; an event takes 1 to 256 fields', relation, cardinality(columns)
            USING ERRCODE = 'program_limit_exceeded', HINT = 'Give --columns with those that events need.';
    END IF;
    SELECT c.name, c.type INTO unfit FROM apus_outbox.carried(relation, columns) c WHERE NOT c.is_carried LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION '%: the column % is of the type %, which no event carries', relation, quote_ident(unfit.name),
            unfit.type
            USING ERRCODE = 'feature_not_supported', HINT = 'Leave it out' || coalesce((
                SELECT ': --columns ' || string_agg(c.name, ',') FROM apus_outbox.carried(relation, columns) c
                WHERE c.is_carried), '')
                || '. Or add a column of a type that events carry, GENERATED ALWAYS AS (…) STORED.';
    END IF;
END
$$;

-- The columns that name a record, of which no two rows have the same at any time, and none has NULL.
CREATE OR REPLACE FUNCTION apus_outbox.key_of(relation regclass, key text[]) RETURNS text[]
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    numbers int2[];
    unfit record;
BEGIN
    key := coalesce(key, (
        SELECT array_agg(a.attname::text ORDER BY k.n)
        FROM pg_index i CROSS JOIN unnest(i.indkey) WITH ORDINALITY k (attnum, n)
            JOIN pg_attribute a ON a.attrelid = relation AND a.attnum = k.attnum
        WHERE i.indrelid = relation AND i.indisprimary AND k.n <= i.indnkeyatts));
    PERFORM apus_outbox.check_existence(relation, key);
    SELECT array_agg(a.attnum) INTO numbers FROM pg_attribute a
    WHERE a.attrelid = relation AND a.attname = ANY (key) AND a.attnotnull;
    IF cardinality(key) IS DISTINCT FROM cardinality(numbers) OR NOT EXISTS (
        SELECT FROM pg_index i
        WHERE i.indrelid = relation AND i.indisunique AND i.indimmediate AND i.indisvalid AND i.indpred IS NULL
            AND numbers @> (i.indkey::int2[])[0:i.indnkeyatts - 1]) THEN
        RAISE EXCEPTION '%: nothing names its rows for certain: %', relation,
            CASE WHEN key IS NULL THEN 'there is no primary key'
                ELSE format('two may have the same (%s), or none', array_to_string(key, ', ')) END
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Give --key with NOT NULL columns that have a unique '
                'index, which is not DEFERRABLE, partial, or of expressions.';
    END IF;
    SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type INTO unfit FROM pg_attribute a
    WHERE a.attrelid = relation AND a.attname = ANY (key) AND apus_outbox.key_text(a.atttypid, '') IS NULL LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION '%: the column % is of the type %, which cannot name a record', relation,
            quote_ident(unfit.name), unfit.type
            USING ERRCODE = 'feature_not_supported',
                HINT = 'Give --key with columns of texts, whole numbers, enums, dates or uuid.';
    END IF;
    RETURN key;
END
$$;

-- The query that makes the name and the fields of a record of a row, $1, of the table that is called $2.
CREATE OR REPLACE FUNCTION apus_outbox.record_query(relation regclass, columns text[], key text[]) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT format(
        'SELECT %s, jsonb_strip_nulls(%s)',
        -- Names of several columns are told apart: ('a/b', 'c') and ('a', 'b/c') are two records.
        (SELECT string_agg(
            CASE WHEN cardinality($3) = 1 THEN k.part
                ELSE format('replace(replace(%s, ''%%'', ''%%25''), ''/'', ''%%2F'')', k.part) END,
            ' || ''/'' || ' ORDER BY k.n)
        FROM (
            SELECT n.n, apus_outbox.key_text(a.atttypid, format('$1.%I', a.attname)) AS part
            FROM unnest($3) WITH ORDINALITY n (name, n)
                JOIN pg_attribute a ON a.attrelid = $1 AND a.attname = n.name
        ) k),
        -- A function has 100 arguments at most.
        (SELECT string_agg(format('jsonb_build_object(%s)', f.fields), ' || ') FROM (
            SELECT string_agg(format('%L, %s', a.attname,
                apus_outbox.conversion(a.atttypid, a.atttypmod, a.attname, format('$1.%I', a.attname))), ', ') AS fields
            FROM pg_attribute a WHERE a.attrelid = $1 AND a.attname = ANY ($2) GROUP BY a.attnum / 50
        ) f))
$$;

-- A condition of a trigger: one of the columns differs in its bytes. Not all types have an operator of equality.
CREATE OR REPLACE FUNCTION apus_outbox.difference(columns text[]) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('ROW(%s)::record OPERATOR(pg_catalog.*<>) ROW(%s)::record',
        string_agg(format('OLD.%I', n.name), ', '), string_agg(format('NEW.%I', n.name), ', '))
    FROM unnest($1) n (name)
$$;

-- Makes each change of a row of a table an event: record.created, record.updated or record.deleted.
--   table        as SQL writes it, for example 'songs'
--   record_type  that of its records, for example 'Song'
--   columns      the fields of the events; by default all columns that the table has now
--   key          the columns that name a record; by default the primary key
--   zone         the zone of its records, if they have one
--   app          the only app whose subscribers are told, if not all
-- The triggers come before others by their names, because others may change the row once more.
-- To be run by the owner of the outbox; a second call takes the place of the first. It returns a sentence.
CREATE OR REPLACE FUNCTION apus_outbox.watch(
    "table" regclass, record_type text, columns text[] DEFAULT NULL, key text[] DEFAULT NULL,
    zone text DEFAULT NULL, app text DEFAULT NULL
) RETURNS text LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    relation CONSTANT regclass := "table";
    arguments text;
    made record;
BEGIN
    PERFORM apus_outbox.check_name('record_type', coalesce(record_type, '')), apus_outbox.check_name('zone', zone);
    IF app !~ '^[A-Za-z0-9._-]{1,64}$' THEN
        RAISE EXCEPTION 'app %: expected 1 to 64 letters and digits of ASCII and any of . - _, for example chat',
            quote_literal(left(app, 64)) USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF NOT EXISTS (
        SELECT FROM pg_class c WHERE c.oid = relation AND c.relkind IN ('r', 'p')
            AND c.relnamespace::regnamespace::text NOT IN ('apus_outbox', 'pg_catalog')) THEN
        RAISE EXCEPTION '%: no ordinary or partitioned table of a backend', relation
            USING ERRCODE = 'wrong_object_type', HINT = 'Give the table whose rows are the records.';
    END IF;
    key := apus_outbox.key_of(relation, key);
    columns := coalesce(columns, apus_outbox.columns_of(relation));
    PERFORM apus_outbox.check_existence(relation, columns), apus_outbox.check_types(relation, columns);
    arguments := (
        SELECT format('%L, %L, %L',
            jsonb_strip_nulls(jsonb_build_object('recordType', record_type, 'zoneName', zone, 'app', app)),
            array_agg(a.attname || ' ' || apus_outbox.plain_type(a.atttypid)),
            apus_outbox.record_query(relation, columns, key))
        FROM pg_attribute a WHERE a.attrelid = relation AND a.attname = ANY (columns || key));
    FOR made IN SELECT * FROM (VALUES
        ('created', 'INSERT', '{record.created}', ''),
        ('updated', 'UPDATE', '{record.updated}', format(
            'WHEN (%s AND NOT %s)', apus_outbox.difference(columns), apus_outbox.difference(key))),
        ('moved', 'UPDATE', '{record.deleted,record.created}', format('WHEN (%s)', apus_outbox.difference(key))),
        ('deleted', 'DELETE', '{record.deleted}', '')
    ) e (name, operation, types, condition) LOOP
        EXECUTE format(
            'CREATE OR REPLACE TRIGGER %I AFTER %s ON %s FOR EACH ROW %s '
            'EXECUTE FUNCTION apus_outbox.tell_change(%L, %s)',
            '00_apus_' || made.name, made.operation, relation, made.condition, made.types, arguments);
    END LOOP;
    EXECUTE format(
        'CREATE OR REPLACE TRIGGER "00_apus_truncated" BEFORE TRUNCATE ON %s '
        'EXECUTE FUNCTION apus_outbox.tell_change()', relation);
    RETURN format('Changes of %s are events of %s, named by %s, with the fields %s.', relation, record_type,
        array_to_string(key, ', '), array_to_string(columns, ', '));
END
$$;

-- Ends the events of a table; it returns a sentence.
CREATE OR REPLACE FUNCTION apus_outbox.unwatch("table" regclass) RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET client_min_messages = warning AS $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY '{created,updated,moved,deleted,truncated}'::text[] LOOP
        EXECUTE format('DROP TRIGGER IF EXISTS %I ON %s', '00_apus_' || name, "table");
    END LOOP;
    RETURN format('Changes of %s are no events.', "table");
END
$$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA apus_outbox FROM PUBLIC;
COMMIT;
