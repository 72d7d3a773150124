import ChangeEvents
import Essentials
import Predicates
import TOML

extension ConfigurationKey {
    static let sourceTable = ConfigurationKey(
        section: "source", name: "table", kind: .string, standard: nil, example: .string("public.songs"),
        summary: "Table, as TABLE, SCHEMA.TABLE, DATABASE.TABLE or DATABASE.SCHEMA.TABLE.",
        details: "The source that names a table with the most parts counts.")
    static let sourceRecordType = ConfigurationKey(
        section: "source", name: "record_type", kind: .string, standard: nil, example: .string("Song"),
        summary: "Type of the records that its rows are.")
    static let sourceKey = ConfigurationKey(
        section: "source", name: "key", kind: .strings, standard: texts(["id"]),
        summary: "Columns that name a record.",
        details: "Texts, whole numbers or dates; several are joined by /, with % as %25 and / as %2F in each.")
    static let sourceColumns = ConfigurationKey(
        section: "source", name: "columns", kind: .strings, standard: texts([]), example: texts(["title", "price"]),
        summary: "Columns that become fields; [] is all.")
    static let sourceTypes = ConfigurationKey(
        section: "source", name: "types", kind: .strings, standard: texts([]), example: texts(["released=date"]),
        summary: "Types of columns that the message does not tell, each COLUMN=TYPE.",
        details: "TYPE is one of \(ColumnType.declarable). They go before those of a schema.")
    static let sourceChanges = ConfigurationKey(
        section: "source", name: "changes", kind: .strings,
        standard: texts(TableSource.Change.allCases.filter { $0 != .snapshot }.map(\.rawValue)),
        summary: "Changes that become events: created, updated, deleted, snapshot (a row that was there before).")
    static let sourceZone = ConfigurationKey(
        section: "source", name: "zone", kind: .string, standard: .string(""),
        summary: "Zone of its records; \"\" is the default zone.")
    static let sourceApp = ConfigurationKey(
        section: "source", name: "app", kind: .string, standard: .string(""),
        summary: "The only app whose subscribers are told; \"\" is all.")

    /// The keys of `[[source]]`.
    static let source = [
        sourceTable, sourceRecordType, sourceKey, sourceColumns, sourceTypes, sourceChanges, sourceZone, sourceApp,
    ]
}

extension ConfigurationReader {
    /// The longest name of a table with its schema and database, in bytes.
    private static let tableBytesMaximum = 512

    /// Reads the sources, and refuses two of one table.
    mutating func readSources() -> [TableSource] {
        var sources: [TableSource] = []
        var tables: [ByteText: Int] = [:]
        for index in 0..<(counts["source"] ?? 0) {
            let source = readSource(index)
            if !source.table.isEmpty, let other = tables.updateValue(index, forKey: ByteText(source.table)) {
                fail(
                    .sourceTable, app: index, "source \(other) has the table \(source.table.quoted) as well",
                    "give each table once, or with its schema and database")
            }
            sources.append(source)
        }
        return sources
    }

    private mutating func readSource(_ index: Int) -> TableSource {
        let table = text(.sourceTable, app: index)
        if values[ConfigurationKey.sourceTable.path(app: index)] != nil,
            !(1...Self.tableBytesMaximum).contains(table.utf8.count)
        {
            fail(
                .sourceTable, app: index, "\(table.excerpt) is invalid",
                "it must be 1 to \(Self.tableBytesMaximum) bytes long, for example public.songs")
        }
        let zone = readName(.sourceZone, index)
        let app = text(.sourceApp, app: index)
        if !app.isEmpty, !appNames.contains(where: { $0.hasBytes(of: app) }) {
            fail(
                .sourceApp, app: index, "there is no app \(app.excerpt)", "give the name of an [[app]], or \"\" for all"
            )
        }
        let key = texts(.sourceKey, app: index)
        if key.isEmpty { fail(.sourceKey, app: index, "[] is invalid", "name the columns of the primary key") }
        return TableSource(
            table: table, recordType: readName(.sourceRecordType, index), key: key, columns: readColumns(index),
            types: readTypes(index), changes: readChanges(index),
            zoneName: zone.isEmpty ? FieldValue.defaultZoneName : zone, app: app.isEmpty ? nil : app)
    }

    /// The names of the apps as they are given.
    private var appNames: [String] {
        (0..<(counts["app"] ?? 0)).compactMap { index in
            switch values[ConfigurationKey.appName.path(app: index)]?.content {
            case .text(let name), .typed(.string(let name)): name
            default: nil
            }
        }
    }

    /// Reads the name of a type of records or of a zone; empty if it is not given.
    private mutating func readName(_ key: ConfigurationKey, _ index: Int) -> String {
        let name = text(key, app: index)
        let isGiven = key.standard == nil ? values[key.path(app: index)] != nil : !name.isEmpty
        if isGiven, let requirement = TextRule.name.requirement(brokenBy: name) {
            fail(key, app: index, "\(name.excerpt) is invalid", "it must be \(requirement)")
        }
        return name
    }

    private mutating func readColumns(_ index: Int) -> [String] {
        let columns = texts(.sourceColumns, app: index)
        if columns.count > RecordLimits.fieldsMaximum {
            fail(
                .sourceColumns, app: index, "\(columns.count) columns",
                "name at most \(RecordLimits.fieldsMaximum), which events take")
        }
        return columns
    }

    private mutating func readTypes(_ index: Int) -> [ByteText: ColumnType] {
        var types: [ByteText: ColumnType] = [:]
        for text in texts(.sourceTypes, app: index) {
            // The name of a column may have an equals sign, and that of a type has none.
            let mark = text.lastIndex(of: "=")
            let column = mark.map { String(text[..<$0]) } ?? ""
            let type = mark.flatMap { ColumnType(declared: String(text[text.index(after: $0)...])) }
            guard let type, !column.isEmpty else {
                fail(
                    .sourceTypes, app: index, "\(text.excerpt) is invalid",
                    "write COLUMN=TYPE, with one of the types \(ColumnType.declarable)")
                continue
            }
            types[ByteText(column)] = type
        }
        return types
    }

    private mutating func readChanges(_ index: Int) -> Set<TableSource.Change> {
        var changes: Set<TableSource.Change> = []
        for text in texts(.sourceChanges, app: index) {
            guard let change = TableSource.Change(rawValue: text) else {
                fail(
                    .sourceChanges, app: index, "\(text.excerpt) is invalid",
                    "give some of \(TableSource.Change.allCases.map(\.rawValue).joined(separator: ", "))")
                continue
            }
            changes.insert(change)
        }
        return changes
    }
}
