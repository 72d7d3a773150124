/// The SQL that makes changes of a table events, or ends that.
public struct WatchSQL: Sendable {
    /// The table, as SQL writes it: `songs`, `shop.songs`, `"Order Lines"`.
    public var table: String
    /// The type of its records.
    public var recordType: String
    /// The columns that become fields; nil for all that the table has then.
    public var columns: [String]?
    /// The columns that name a record; nil for the primary key.
    public var key: [String]?
    /// The zone of its records; nil for the default zone.
    public var zone: String?
    /// The only app whose subscribers are told; nil for all apps.
    public var app: String?

    /// Describes the events of a table; the database checks all of it.
    public init(
        table: String, recordType: String, columns: [String]? = nil, key: [String]? = nil, zone: String? = nil,
        app: String? = nil
    ) {
        self.table = table
        self.recordType = recordType
        self.columns = columns
        self.key = key
        self.zone = zone
        self.app = app
    }

    /// Returns SQL to be run by the owner of the outbox; it may be run again.
    public var text: String {
        var arguments = [SQLText.literal(table), SQLText.literal(recordType)]
        if let columns { arguments.append("columns => \(SQLText.array(columns))") }
        if let key { arguments.append("key => \(SQLText.array(key))") }
        if let zone { arguments.append("zone => \(SQLText.literal(zone))") }
        if let app { arguments.append("app => \(SQLText.literal(app))") }
        return """
            -- Makes changes of a table events. To be run by the owner of the outbox that 'apus relay sql' has made.
            SELECT apus_outbox.watch(\(arguments.joined(separator: ", ")));

            """
    }

    /// Returns SQL that ends the events of a table.
    public static func removal(ofTable table: String) -> String {
        """
        -- Ends the events of a table.
        SELECT apus_outbox.unwatch(\(SQLText.literal(table)));

        """
    }
}

/// Texts within SQL.
///
/// Scalars are looked at, not characters: a quote with an accent is still a quote to PostgreSQL.
enum SQLText {
    /// The name of a role.
    static func name(_ text: String) -> String { quoted(text, by: "\"") }

    /// A literal, whatever `standard_conforming_strings` is.
    static func literal(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "\\")) else { return quoted(text, by: "'") }
        return "E" + quoted(doubling("\\", in: text), by: "'")
    }

    /// An array of literals.
    static func array(_ texts: [String]) -> String {
        "ARRAY[\(texts.map(literal).joined(separator: ", "))]::text[]"
    }

    private static func quoted(_ text: String, by quote: Unicode.Scalar) -> String {
        "\(quote)\(doubling(quote, in: text))\(quote)"
    }

    private static func doubling(_ scalar: Unicode.Scalar, in text: String) -> String {
        var result = String.UnicodeScalarView()
        for next in text.unicodeScalars {
            if next == scalar { result.append(next) }
            result.append(next)
        }
        return String(result)
    }
}
