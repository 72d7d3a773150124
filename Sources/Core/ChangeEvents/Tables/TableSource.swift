public import Essentials
public import Predicates

/// A table of a database whose changed rows are events of records: one `[[source]]` of the configuration.
///
/// Debezium, or a webhook of the database, tells of the changes; their envelopes do not name a record.
public struct TableSource: Hashable, Sendable {
    /// The kinds of envelopes of a row.
    public enum Change: String, CaseIterable, Hashable, Sendable {
        /// The row is new.
        case created
        /// The row has other values.
        case updated
        /// The row is gone.
        case deleted
        /// The row was there before its changes were followed; asked for, it is a record that was created.
        case snapshot

        /// What happened to the record.
        var operation: RecordChange.Operation {
            switch self {
            case .created, .snapshot: .created
            case .updated: .updated
            case .deleted: .deleted
            }
        }
    }

    /// The table: `songs`, `public.songs` or `shop.public.songs`.
    public var table: String
    /// The type of its records.
    public var recordType: String
    /// The columns that name a record, one at least.
    public var key: [String]
    /// The columns that become fields; empty for all.
    public var columns: [String]
    /// The declared types of columns, which go before those of the envelope's schema.
    public var types: [ByteText: ColumnType]
    /// The changes that become events; others are skipped.
    public var changes: Set<Change>
    /// The zone of its records.
    public var zoneName: String
    /// The only app whose subscribers are told; nil for all apps.
    public var app: String?

    /// The changes that become events unless others are asked for.
    public static let usualChanges: Set<Change> = [.created, .updated, .deleted]

    /// Describes the records of a table.
    public init(
        table: String, recordType: String, key: [String] = ["id"], columns: [String] = [],
        types: [ByteText: ColumnType] = [:], changes: Set<Change> = TableSource.usualChanges,
        zoneName: String = FieldValue.defaultZoneName, app: String? = nil
    ) {
        self.table = table
        self.recordType = recordType
        self.key = key
        self.columns = columns
        self.types = types
        self.changes = changes
        self.zoneName = zoneName
        self.app = app
    }
}

/// The tables whose changed rows are events of records.
public struct TableSources: Hashable, Sendable {
    private let sources: [ByteText: TableSource]

    /// Gathers tables; of two with one name the first counts.
    public init(_ sources: [TableSource] = []) {
        self.sources = Dictionary(
            sources.map { (ByteText($0.table), $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Whether there are none.
    var isEmpty: Bool { sources.isEmpty }

    /// The source that names a table with the most parts.
    func source(of table: TableName) -> TableSource? {
        for name in table.names {
            if let source = sources[ByteText(name)] { return source }
        }
        return nil
    }
}

/// The name of a table, as an envelope has it in parts.
struct TableName {
    /// Its names in a configuration, the longest first: `shop.public.songs`, `public.songs`, `songs`.
    let names: [String]

    /// Joins the parts that are there.
    init(database: String? = nil, schema: String?, table: String) {
        let parts = [database, schema, table].compactMap(\.self).filter { !$0.isEmpty }
        names = parts.indices.map { parts[$0...].joined(separator: ".") }
    }

    /// The name with all of its parts.
    var whole: String { names.first ?? "" }

    /// The name that a new source would best have: without the database, if the table is in a schema.
    var usual: String { names.count > 2 ? names[1] : whole }
}
