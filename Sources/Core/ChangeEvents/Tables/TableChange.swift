import Essentials
internal import JSON
import Notifications
import Predicates

/// The change of a row of a table, as an envelope tells of it.
struct TableChange {
    /// The table.
    let table: TableName
    /// What happened to the row.
    let change: TableSource.Change
    /// The row: as it is after the change, of a deleted one as it was.
    let row: FieldReader
    /// The types of its columns, as far as the envelope says them.
    let schema: RowSchema

    /// Makes the record's change.
    ///
    /// - Parameter sources: the tables whose changes are events.
    /// - Returns: the change, with the fields of the source.
    /// - Throws: `EventRejection`: `.skipped` if nothing is to be told, `.unknownTable` if no source names the table.
    func record(of sources: TableSources) throws(EventRejection) -> RecordChange {
        guard let source = sources.source(of: table) else { throw unknownTable }
        guard source.changes.contains(change) else {
            throw EventRejection(
                .skipped,
                "a row of \(table.whole.excerpt): the changes of its [[source]] do not name \(change.rawValue)")
        }
        return RecordChange(
            operation: change.operation, app: source.app, recordType: source.recordType,
            recordName: try recordName(of: source), fields: try fields(of: source), zoneName: source.zoneName)
    }

    /// Says which lines of the configuration would make the table a source.
    private var unknownTable: EventRejection {
        let key = row.object["id"] == nil ? row.object.first { _ in true }?.key ?? "id" : "id"
        return EventRejection(
            .unknownTable,
            "no [[source]] names the table \(table.whole.excerpt); add these lines to the configuration: [[source]],"
                + " table = \(table.usual.excerpt), record_type = \(Self.lastPart(of: table).excerpt), key ="
                + " [\(key.excerpt)]; with changes = [] its changes are skipped")
    }

    private static func lastPart(of table: TableName) -> String { table.names.last ?? "" }

    // MARK: The record's name

    /// The values of the key; several are joined by slashes, each with its own slashes and percent signs encoded.
    private func recordName(of source: TableSource) throws(EventRejection) -> String {
        var parts: [String] = []
        for column in source.key {
            guard let value = row.object.member(named: column), !value.isNull else {
                throw EventRejection(
                    .missingField,
                    "\(path(column)) is missing, which names the record; key of the [[source]] has to name columns that"
                        + " each row has")
            }
            parts.append(try namePart(value, of: column, source))
        }
        if parts.count > 1 {
            parts = parts.map { $0.replacing("%", with: "%25").replacing("/", with: "%2F") }
        }
        let name = parts.joined(separator: "/")
        if let requirement = TextRule.name.requirement(brokenBy: name) {
            throw FieldReader.invalid(
                "the key of \(row.path)", found: "a name of \(name.utf8.count) bytes", requirement)
        }
        return name
    }

    private func namePart(
        _ json: JSONValue, of column: String, _ source: TableSource
    ) throws(EventRejection) -> String {
        let type = columnType(column, source)
        let expected = "a text, a whole number or a date, to name a record"
        switch type {
        case .plain, .text, .number, .decimal:
            if type == .plain || type == .text, let text = json.string { return text }
            if let number = json.uint64 { return String(number) }
            if case .integer(let number) = try type.value(json, { path(column) }) { return String(number) }
        case .moment(let unit):
            if unit == nil, let text = json.string { return text }
            if unit == .days, case .date(let milliseconds) = try type.value(json, { path(column) }) {
                return String(WallTime.text(milliseconds: milliseconds).prefix { $0 != "T" })
            }
        case .bytes, .place, .refused: break
        }
        throw FieldReader.invalid(path(column), json, expected)
    }

    // MARK: The fields

    private func fields(of source: TableSource) throws(EventRejection) -> RecordFields {
        var fields = RecordFields()
        guard !source.columns.isEmpty else {
            for member in row.object { try add(member.value, of: member.key, source, to: &fields) }
            return fields
        }
        fields.reserveCapacity(source.columns.count)
        for column in source.columns {
            if let value = row.object.member(named: column) {
                try add(value, of: column, source, to: &fields)
            } else if change != .deleted {
                // Of a deleted row the database may tell the key alone.
                throw EventRejection(
                    .missingField,
                    "\(path(column)) is missing; columns of the [[source]] has to name columns that each row has")
            }
        }
        return fields
    }

    private func add(
        _ json: JSONValue, of column: String, _ source: TableSource, to fields: inout RecordFields
    ) throws(EventRejection) {
        guard let value = try columnType(column, source).value(json, { path(column) }) else { return }
        guard (1...RecordLimits.pathBytesMaximum).contains(column.utf8.count) else {
            throw FieldReader.invalid(
                row.path, found: "a row with a column whose name has \(column.utf8.count) bytes",
                "one whose columns have names of 1 to \(RecordLimits.pathBytesMaximum) bytes")
        }
        fields[column] = value
        guard fields.paths.count <= RecordLimits.fieldsMaximum else {
            throw EventRejection(
                .invalidField,
                "\(row.path) has more than \(RecordLimits.fieldsMaximum) columns; name those that events need in"
                    + " columns of the [[source]]")
        }
    }

    private func columnType(_ column: String, _ source: TableSource) -> ColumnType {
        source.types[ByteText(column)] ?? schema.type(of: column) ?? .plain
    }

    /// Names of columns are a publisher's own: they must not break the line of a log.
    private func path(_ column: String) -> String { "\(row.path).\(column.shortened(bytesMaximum: 80).printable())" }
}

/// The types of the columns of a row, by the schema of Kafka Connect that may come with an envelope.
struct RowSchema {
    private var types: [ByteText: ColumnType] = [:]

    /// Knows no type.
    init() {}

    /// Reads the schema of a member of an envelope.
    ///
    /// - Parameters:
    ///   - envelope: the schema of the envelope; `null` if it came without one.
    ///   - member: the member with the row.
    init(envelope: JSONValue, member: StaticString) {
        let structure = envelope["fields"]?.array?.first { $0["field"]?.isString(member) == true }
        guard let columns = structure?["fields"]?.array else { return }
        for column in columns {
            guard let object = column.object, let name = object["field"]?.string else { continue }
            types[ByteText(name)] = ColumnType(schema: object)
        }
    }

    /// The type of a column; nil if it is not known.
    func type(of column: String) -> ColumnType? { types.isEmpty ? nil : types[ByteText(column)] }
}
