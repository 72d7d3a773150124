import ChangeEvents
import DispatchCore
import Essentials
import Testing
import WorkerConfiguration

@testable import Dispatcher

@Suite("The sources of the configuration")
struct SourceConfigurationTests {
    private let fixture: ConfigurationFixture

    init() throws { fixture = try ConfigurationFixture() }

    @Test("A source needs a table and a type of records; all else has a default")
    func defaults() throws {
        let text = ConfigurationFixture.app + "[[source]]\ntable = \"public.songs\"\nrecord_type = \"Song\"\n"
        let configuration = try fixture.load(text).configuration
        #expect(configuration.sources == [TableSource(table: "public.songs", recordType: "Song")])
        #expect(configuration.pipeline.sources == TableSources(configuration.sources))
        #expect(try fixture.load(ConfigurationFixture.app).configuration.sources.isEmpty)
    }

    @Test("Every key is read, from the file, the environment and the command line")
    func everyKey() throws {
        let text = """
            [[source]]
            table = "inventory.customers"
            record_type = "Customer"
            key = ["tenant", "id"]
            columns = ["email", "joined"]
            types = ["joined=date", "a=b=decimal(2)"]
            changes = ["created", "snapshot"]
            zone = "crm"
            app = "chat"

            """
        let source = TableSource(
            table: "inventory.customers", recordType: "Customer", key: ["tenant", "id"], columns: ["email", "joined"],
            types: [ByteText("joined"): .moment(.days), ByteText("a=b"): .decimal(scale: 2)],
            changes: [.created, .snapshot], zoneName: "crm", app: "chat")
        #expect(try fixture.load(text + ConfigurationFixture.app).configuration.sources == [source])
        let loaded = try fixture.load(
            ConfigurationFixture.app,
            environment: ["APUS_SOURCE_0_TABLE": "songs", "APUS_SOURCE_0_RECORD_TYPE": "Song"],
            set: [("source.0.key", "artist, title"), ("source.0.changes", "")])
        #expect(
            loaded.configuration.sources
                == [TableSource(table: "songs", recordType: "Song", key: ["artist", "title"], changes: [])])
        #expect(loaded.effective.contains { $0.key == "source.0.table" && $0.literal == "\"songs\"" })
    }

    @Test("Each fault has its line, its key, its value and the rule")
    func faults() throws {
        let text = """
            [[source]]
            table = ""
            record_type = "a\\nb"
            key = []
            columns = 7
            types = ["joined=day", "=date"]
            changes = ["truncated"]
            app = "a b"
            [[source]]
            table = "songs"
            record_type = "Song"
            [[source]]
            table = "songs"
            tabel = "x"

            """
        let problems = try fixture.problems(text + ConfigurationFixture.app)
        let types = ColumnType.declarable
        #expect(
            problems == [
                "2 source.0.table: \"\" is invalid; it must be 1 to 512 bytes long, for example public.songs",
                "3 source.0.record_type: \"a\\nb\" is invalid; it must be a text without control characters",
                "4 source.0.key: [] is invalid; name the columns of the primary key",
                "5 source.0.columns: 7 is invalid; give a list of strings",
                "6 source.0.types: \"joined=day\" is invalid; write COLUMN=TYPE, with one of the types \(types)",
                "6 source.0.types: \"=date\" is invalid; write COLUMN=TYPE, with one of the types \(types)",
                "7 source.0.changes: \"truncated\" is invalid; give some of created, updated, deleted, snapshot",
                "8 source.0.app: there is no app \"a b\"; give the name of an [[app]], or \"\" for all",
                "13 source.2.table: source 1 has the table \"songs\" as well; "
                    + "give each table once, or with its schema and database",
                "14 source.2.tabel: unknown key; did you mean 'source.2.table'?",
                "default source.2.record_type: missing; it is required; "
                    + "set it in the file or as APUS_SOURCE_2_RECORD_TYPE",
            ])
        #expect(
            try fixture.problems("source = 1\n" + ConfigurationFixture.app)
                == ["1 source: source is not a list; write [[source]], with two brackets"])
    }

    @Test("The sample shows a source as a comment, which is right once it is none")
    func sample() throws {
        let sample = SampleConfiguration.text
        #expect(try fixture.load(sample, for: .tool).configuration.sources.isEmpty)
        let lines = sample.split(separator: "\n").drop { $0 != "# [[source]]" }.prefix { !$0.hasPrefix("[") }
        let text = lines.filter { $0 == "# [[source]]" || $0.contains(" = ") && !$0.hasSuffix(".") }
            .map { String($0.dropFirst(2)) }
        let sources = try fixture.load(text.joined(separator: "\n"), for: .tool).configuration.sources
        #expect(sources.first?.table == "public.songs" && sources.first?.columns == ["title", "price"])
    }

    @Test("A reload builds the worker again for a source that is new")
    func reload() throws {
        let old = try fixture.load(ConfigurationFixture.app)
        let text = "[[source]]\ntable = \"songs\"\nrecord_type = \"Song\"\n"
        let new = try fixture.load(text + ConfigurationFixture.app)
        let change = ConfigurationChange(from: old, to: new)
        #expect(change.needsNewParts && change.keysForRestart.isEmpty && change.keys.contains("source.0.table"))
    }
}
