import ChangeEvents
import Predicates
import PushTestKit
import Testing

@testable import Relay

@Suite("The changes of a table as events")
struct RecordTriggerTests {
    /// Watches a table as `apus relay trigger` does.
    private func watch(
        _ outbox: TestOutbox, _ table: String = "songs", _ recordType: String = "Song", columns: [String]? = nil,
        key: [String]? = nil, zone: String? = nil, app: String? = nil
    ) async throws {
        try await outbox.run(
            WatchSQL(table: table, recordType: recordType, columns: columns, key: key, zone: zone, app: app).text)
    }

    private func summary(_ changes: [RecordChange]) -> [String] {
        changes.map { change in
            let fields = zip(change.fields.paths, change.fields.values).map { "\($0)=\($1)" }
            return "\(change.operation) \(change.recordName) \(fields.joined(separator: " "))"
        }
    }

    // MARK: Changes

    @Test("Inserts, updates and deletes are events; an update that changes no field is none, one of the key is two")
    func operations() async throws {
        let outbox = try await TestOutbox.make()
        try await outbox.run("CREATE TABLE songs (id int PRIMARY KEY, title text, price int, plays int)")
        try await watch(outbox, columns: ["title", "price"], zone: "eu", app: "chat")
        try await outbox.run(
            """
            INSERT INTO songs VALUES (1, 'Rain', 25, 0), (2, NULL, 5, 0);
            UPDATE songs SET price = 20 WHERE id = 1;
            UPDATE songs SET price = price, title = title, plays = plays + 1;
            UPDATE songs SET id = 3, price = 6 WHERE id = 2;
            UPDATE songs SET title = NULL WHERE id = 1;
            DELETE FROM songs WHERE id = 1;
            """)
        let keys = try await outbox.run("SELECT string_agg(key, ',' ORDER BY number) FROM apus_outbox.event")
        #expect(keys == "Song/1,Song/2,Song/1,Song/2,Song/3,Song/1,Song/1")
        let changes = try outbox.takeRecords()
        let rain = "price=20 title=\"Rain\""
        #expect(
            summary(changes) == [
                "created 1 price=25 title=\"Rain\"", "created 2 price=5", "updated 1 \(rain)",
                "deleted 2 price=5", "created 3 price=6", "updated 1 price=20",
                "deleted 1 price=20",
            ])
        #expect(changes.allSatisfy { $0.recordType == "Song" && $0.zoneName == "eu" && $0.app == "chat" })
    }

    @Test("A rolled back change is no event; those of COPY, MERGE, ON CONFLICT and partitions are")
    func waysToWrite() async throws {
        let outbox = try await TestOutbox.make()
        try await outbox.run(
            """
            CREATE TABLE songs (id int PRIMARY KEY, price int) PARTITION BY RANGE (id);
            CREATE TABLE songs_1 PARTITION OF songs FOR VALUES FROM (0) TO (100);
            """)
        try await watch(outbox)
        try await outbox.run("CREATE TABLE songs_2 PARTITION OF songs FOR VALUES FROM (100) TO (200)")
        try await outbox.run("BEGIN; INSERT INTO songs VALUES (1, 1); ROLLBACK")
        try await outbox.run(
            """
            INSERT INTO songs VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET price = 2;
            INSERT INTO songs VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET price = 3;
            MERGE INTO songs USING (VALUES (1), (101)) n (id) ON songs.id = n.id
                WHEN MATCHED THEN UPDATE SET price = 4 WHEN NOT MATCHED THEN INSERT VALUES (n.id, 5);
            INSERT INTO songs_2 VALUES (102, 6);
            UPDATE songs SET id = 2, price = 8 WHERE id = 102;
            COPY songs FROM PROGRAM $$printf '103\\t7\\n'$$;
            """)
        #expect(
            summary(try outbox.takeRecords()) == [
                "created 1 id=1 price=1", "updated 1 id=1 price=3",
                "updated 1 id=1 price=4", "created 101 id=101 price=5",
                "created 102 id=102 price=6", "deleted 102 id=102 price=6",
                "created 2 id=2 price=8", "created 103 id=103 price=7",
            ])
    }

    @Test("A trigger of the table's own that changes the row once more comes after the event of the first change")
    func otherTriggers() async throws {
        let outbox = try await TestOutbox.make()
        try await outbox.run(
            """
            CREATE TABLE songs (id int PRIMARY KEY, price int);
            CREATE FUNCTION round_up() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN UPDATE songs SET price = 10 WHERE id = NEW.id AND price < 10; RETURN NULL; END $$;
            CREATE TRIGGER "A" AFTER INSERT ON songs FOR EACH ROW EXECUTE FUNCTION round_up();
            """)
        try await watch(outbox, columns: ["price"])
        try await outbox.run("INSERT INTO songs VALUES (1, 3)")
        #expect(summary(try outbox.takeRecords()) == ["created 1 price=3", "updated 1 price=10"])
    }

    @Test("A second call takes the place of the first; the removal ends the events, also twice")
    func again() async throws {
        let outbox = try await TestOutbox.make()
        try await outbox.run("CREATE TABLE songs (id int PRIMARY KEY, title text, price int)")
        try await watch(outbox)
        try await watch(outbox)
        try await watch(outbox, "songs", "Track", columns: ["price"])
        try await outbox.run("INSERT INTO songs VALUES (1, 'Rain', 5); UPDATE songs SET title = 'Sun'")
        let changes = try outbox.takeRecords()
        #expect(summary(changes) == ["created 1 price=5"] && changes.first?.recordType == "Track")
        try await outbox.run(WatchSQL.removal(ofTable: "songs"))
        try await outbox.run(WatchSQL.removal(ofTable: "songs"))
        try await outbox.run("UPDATE songs SET price = 6; TRUNCATE songs")
        #expect(try outbox.takeRecords().isEmpty)
        #expect(try await outbox.run("SELECT count(*) FROM pg_trigger WHERE tgrelid = 'songs'::regclass") == "0")
    }

    // MARK: Names

    @Test("Names with quotes, spaces, accents and words of SQL are names; what looks like SQL is one as well")
    func names() async throws {
        let outbox = try await TestOutbox.make()
        let column = "it's \"a\" \\ ;--$1.é select"
        let quoted = "\"" + column.replacing("\"", with: "\"\"") + "\""
        try await outbox.run(
            """
            CREATE SCHEMA "My Shop"; CREATE TABLE "My Shop"."Order ""Lines'" ("user" text PRIMARY KEY, \(quoted) int);
            INSERT INTO "My Shop"."Order ""Lines'" VALUES ('before', 1)
            """)
        let injection = "x'); DROP TABLE songs; -- \\'\u{301}"
        try await outbox.run("CREATE TABLE songs (id int PRIMARY KEY)")
        let table = "\"My Shop\".\"Order \"\"Lines'\""
        try await watch(outbox, table, injection, columns: [column], zone: injection)
        try await outbox.run("UPDATE \(table) SET \(quoted) = 2, \"user\" = $u$o'\u{e9}$u$")
        let changes = try outbox.takeRecords()
        #expect(changes.map(\.recordName) == ["before", "o'\u{e9}"] && changes[1].fields[column] == .integer(2))
        #expect(changes.allSatisfy { $0.recordType == injection && $0.zoneName == injection })
        for sql in [
            WatchSQL(table: injection, recordType: "Song"),
            WatchSQL(table: "songs", recordType: "Song", columns: [injection]),
            WatchSQL(table: "songs", recordType: "Song", key: [injection]),
            WatchSQL(table: "songs", recordType: "Song", app: injection),
        ] {
            let message = try await outbox.failure(of: sql.text)
            #expect(message.contains("ERROR") && !message.contains("syntax error"), "\(message)")
        }
        #expect(try await outbox.run("SELECT count(*) FROM songs") == "0")
    }

    @Test("A key of several columns names records that differ, whatever is in them; its columns may have any order")
    func compositeKeys() async throws {
        let outbox = try await TestOutbox.make()
        try await outbox.run(
            """
            CREATE TYPE kind AS ENUM ('a/b', 'c');
            CREATE TABLE lines (a text, b kind, day date, n uuid NOT NULL UNIQUE, PRIMARY KEY (b, a, day));
            """)
        try await watch(outbox, "lines", "Line", columns: ["n"])
        try await outbox.run(
            """
            SET DateStyle = 'German'; INSERT INTO lines VALUES ('1%2F/', 'a/b', '2026-01-31', gen_random_uuid());
            """)
        #expect(try outbox.takeRecords().map(\.recordName) == ["a%2Fb/1%252F%2F/2026-01-31"])
        try await watch(outbox, "lines", "Line", columns: ["a"], key: ["n"])
        try await outbox.run("UPDATE lines SET n = '0b9b7ec3-0000-4000-8000-00000000abcd'")
        #expect(try outbox.takeRecords().last?.recordName == "0b9b7ec3-0000-4000-8000-00000000abcd")
    }

    // MARK: Rights

    @Test("A role that may change the table needs no right to the outbox, and gets none")
    func rights() async throws {
        let outbox = try await TestOutbox.make()
        let role = "\"a clerk \(outbox.database)\""
        try await outbox.run("CREATE TABLE songs (id int PRIMARY KEY, price int); INSERT INTO songs VALUES (1, 1)")
        try await outbox.run("CREATE ROLE \(role); GRANT SELECT, INSERT, UPDATE, DELETE, TRIGGER ON songs TO \(role)")
        try await watch(outbox)
        try await outbox.run("SET ROLE \(role); SET extra_float_digits = -15; UPDATE songs SET price = 2")
        #expect(try outbox.takeRecords().map(\.operation) == [.updated])
        for refused in [
            "SELECT apus_outbox.watch('songs', 'Song')", "SELECT apus_outbox.unwatch('songs')",
            "CREATE TRIGGER t AFTER UPDATE ON songs FOR EACH ROW EXECUTE FUNCTION apus_outbox.tell_change('SELECT 1')",
            "SELECT apus_outbox.field(1.5, 'numeric', '', '')", "SELECT apus_outbox.unfit('', '', '')",
        ] {
            let message = try await outbox.failure(of: "SET ROLE \(role); \(refused)")
            #expect(message.contains("permission denied"), "\(refused): \(message)")
        }
    }

    @Test("The owner of a table cannot have casts of its own run with the rights of the outbox's owner")
    func foreignCasts() async throws {
        let outbox = try await TestOutbox.make()
        let role = "\"an owner \(outbox.database)\""
        try await outbox.run(
            """
            CREATE ROLE \(role); CREATE SCHEMA shop AUTHORIZATION \(role); SET ROLE \(role);
            CREATE TYPE shop.kind AS ENUM ('a'); CREATE DOMAIN shop.price AS numeric;
            CREATE TABLE shop.songs (id int PRIMARY KEY, kind shop.kind, kinds shop.kind[], price shop.price);
            """)
        try await watch(outbox, "shop.songs")
        try await outbox.run(
            """
            SET ROLE \(role);
            CREATE FUNCTION shop.evil(shop.kind) RETURNS text LANGUAGE plpgsql AS $$
                BEGIN RAISE EXCEPTION 'run by %', current_user; END $$;
            CREATE CAST (shop.kind AS text) WITH FUNCTION shop.evil AS IMPLICIT;
            CREATE FUNCTION shop.evil_json(shop.kind) RETURNS json LANGUAGE sql AS 'SELECT to_json(shop.evil($1))';
            CREATE CAST (shop.kind AS json) WITH FUNCTION shop.evil_json;
            INSERT INTO shop.songs VALUES (1, 'a', '{a,NULL}', 5);
            """)
        let fields = try outbox.takeRecords().first?.fields
        #expect(fields?["kind"] == .string("a") && fields?["kinds"] == .list([.string("a")]))
        let message = try await outbox.failure(
            of: """
                SET ROLE \(role);
                CREATE DOMAIN shop.other AS shop.kind; ALTER TABLE shop.songs ADD other shop.other;
                ALTER TABLE shop.songs RENAME price TO old; ALTER TABLE shop.songs RENAME other TO price;
                ALTER DOMAIN shop.price RENAME TO old; ALTER DOMAIN shop.other RENAME TO price;
                UPDATE shop.songs SET price = 'a', kind = NULL;
                """)
        #expect(message.contains("columns have changed") && message.contains("price numeric"), "\(message)")
    }

    // MARK: Refusals

    @Test(
        "A column that no event carries is refused by its name and type, with what to do",
        arguments: [
            "jsonb", "json", "interval", "time without time zone", "money", "inet", "int4range", "xml", "box",
            "jsonb[]", "bit(3)",
            "oidvector", "odd.pair", "odd.prices",
        ])
    func refusedTypes(_ type: String) async throws {
        let outbox = try await TestOutbox.make()
        try await outbox.run(
            """
            CREATE SCHEMA odd; CREATE TYPE odd.pair AS (a int, b int);
            CREATE DOMAIN odd.price AS int; CREATE DOMAIN odd.prices AS odd.price[];
            CREATE TABLE songs (id int PRIMARY KEY, "Odd one" \(type), price int);
            """)
        let message = try await outbox.failure(of: WatchSQL(table: "songs", recordType: "Song").text)
        #expect(
            message.contains("public.songs: the column \"Odd one\" is of the type \(type), which no event carries")
                && message.contains("--columns id,price."), "\(message)")
        try await watch(outbox, columns: ["id", "price"])
    }

    @Test("A table, key, record type or app that makes no events is refused with the rule")
    func refusedArguments() async throws {
        let outbox = try await TestOutbox.make()
        try await outbox.run(
            """
            CREATE TABLE keyless (a int, b int NOT NULL); CREATE VIEW seen AS SELECT 1 AS id;
            CREATE UNIQUE INDEX ON keyless (a); CREATE UNIQUE INDEX ON keyless (b) WHERE b > 0;
            CREATE TABLE late (id int PRIMARY KEY DEFERRABLE); CREATE TABLE priced (id numeric PRIMARY KEY);
            CREATE TABLE songs (id int PRIMARY KEY);
            """)
        for (sql, part) in [
            ("keyless', 'Song'", "there is no primary key"),
            ("keyless', 'Song', key => '{a}'", "two may have the same (a), or none"),
            ("keyless', 'Song', key => '{b}'", "not DEFERRABLE, partial"), ("late', 'Song'", "the same (id)"),
            ("priced', 'Song'", "the column id is of the type numeric, which cannot name a record"),
            ("seen', 'Song'", "no ordinary or partitioned table"), ("pg_class', 'Song'", "no ordinary or partitioned"),
            ("apus_outbox.event', 'Song'", "no ordinary or partitioned table"),
            ("songs', ''", "record_type '': expected 1 to 256 bytes"), ("songs', E'a\\nb'", "control characters"),
            ("songs', 'Song', zone => ''", "zone '': expected"),
            ("songs', 'Song', app => 'a b'", "app 'a b': expected"),
            ("songs', 'Song', '{nothing}'", "has no column nothing"), ("songs', 'Song', '{}'", "1 to 256 fields"),
            ("songs', 'Song', key => '{}'", "the same ()"), ("nowhere', 'Song'", "\"nowhere\" does not exist"),
        ] {
            let message = try await outbox.failure(of: "SELECT apus_outbox.watch('\(sql))")
            #expect(message.contains(part), "\(sql): \(message)")
        }
    }

    @Test("A value that no event carries fails its statement with the column and the limit; nothing is half done")
    func refusedValues() async throws {
        let outbox = try await TestOutbox.make()
        try await outbox.run(
            """
            CREATE TABLE songs (id text PRIMARY KEY, title text, tags text[], cover bytea, place point, covers bytea[],
                prices numeric[]);
            """)
        try await watch(outbox)
        for (values, part) in [
            ("(id, title) VALUES ('1', repeat('é', 32769))", "the column title has a value of 65538 bytes"),
            ("(id, tags) VALUES ('1', ARRAY['', repeat('a', 65537)])", "tags has a value of 65537 bytes"),
            ("(id, cover) SELECT '1', decode(repeat('00', 65537), 'hex')", "cover has a value of 65537 bytes"),
            ("(id, covers) SELECT '1', ARRAY[decode(repeat('00', 65538), 'hex')]", "covers has a value of 65538 bytes"),
            (
                "(id, tags) SELECT '1', array_agg(''::text) FROM generate_series(1, 257)",
                "tags has a list of 257 members"
            ),
            ("(id, tags) VALUES ('1', '{{a},{b}}')", "tags has an array of several dimensions"),
            ("(id, place) VALUES ('1', '(13,91)')", "place has no place: the longitude is 13, from -180 to 180"),
            ("(id, place) VALUES ('1', '(NaN,1)')", "place has no place"),
            ("(id) VALUES ('')", "the key '' cannot name a record"), ("(id) VALUES (E'a\\u0085')", "cannot name"),
            ("(id) VALUES (repeat('é', 129))", "cannot name a record"),
            (
                "(id, covers) SELECT '1', array_agg(decode(repeat('00', 65536), 'hex')) FROM generate_series(1, 50)",
                "makes an event of 4"
            ),
            ("(id) VALUES ('1'); TRUNCATE songs", "TRUNCATE does not say which records"),
        ] {
            let message = try await outbox.failure(of: "INSERT INTO songs \(values)")
            #expect(message.contains(part) && message.contains("public.songs"), "\(values): \(message)")
        }
        #expect(try await outbox.run("SELECT count(*) FROM songs") == "0")
        #expect(try await outbox.rowCount() == 0)
        try await outbox.run(
            """
            INSERT INTO songs (id, title, tags, cover) SELECT repeat('é', 128), repeat('é', 32768),
                array_agg(repeat('a', 1000)), decode(repeat('00', 65536), 'hex') FROM generate_series(1, 256);
            INSERT INTO songs (id, covers) SELECT '1', array_agg(decode(repeat('00', 65536), 'hex'))
                FROM generate_series(1, 47);
            """)
        #expect(try outbox.takeRecords().count == 2)
    }

    @Test("A column that gets another type or name after the set-up fails changes until the set-up is made again")
    func changedColumns() async throws {
        let outbox = try await TestOutbox.make()
        try await outbox.run("CREATE TABLE songs (id int PRIMARY KEY, price int, title text)")
        try await watch(outbox)
        #expect(try await outbox.failure(of: "ALTER TABLE songs ALTER price TYPE text").contains("00_apus_updated"))
        #expect(try await outbox.failure(of: "ALTER TABLE songs DROP price").contains("00_apus_updated"))
        try await outbox.run("ALTER TABLE songs RENAME price TO cost")
        let message = try await outbox.failure(of: "INSERT INTO songs VALUES (1, 5)")
        #expect(message.contains("columns have changed since their events were set up: price integer"), "\(message)")
        try await watch(outbox)
        try await outbox.run("INSERT INTO songs VALUES (1, 5); ALTER TABLE songs DROP cost CASCADE")
        #expect(try await outbox.failure(of: "DELETE FROM songs").contains("cost integer"))
        try await watch(outbox)
        try await outbox.run("DELETE FROM songs")
        let told = summary(try outbox.takeRecords())
        #expect(told == ["created 1 cost=5 id=1", "deleted 1 id=1"])
    }

    @Test("A table of 120 columns makes events of all of them")
    func manyColumns() async throws {
        let outbox = try await TestOutbox.make()
        let columns = (1...120).map { "c\($0) int" }.joined(separator: ", ")
        try await outbox.run("CREATE TABLE songs (id int PRIMARY KEY, \(columns))")
        try await watch(outbox)
        try await outbox.run("INSERT INTO songs SELECT 0, \((1...120).map(String.init).joined(separator: ", "))")
        let fields = try outbox.takeRecords().first?.fields
        #expect(fields?.paths.count == 121 && fields?["c120"] == .integer(120))
    }
}
