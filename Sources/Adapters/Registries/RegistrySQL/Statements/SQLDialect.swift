/// The database that a statement is for, and its way to write what differs.
public enum SQLDialect: Sendable {
    /// SQLite.
    case sqlite
    /// PostgreSQL, whose tables are in a schema.
    case postgres(schema: String)

    /// The text of a statement.
    public func text(_ statement: SQLStatement) -> String {
        var text = ""
        text.reserveCapacity(1_024)
        for piece in statement.pieces {
            switch (piece, self) {
            case (.text(let sql), _), (.differing(let sql, _), .sqlite), (.differing(_, let sql), .postgres),
                (.table(let sql), .sqlite):
                text += sql
            case (.table(let name), .postgres(let schema)): text += "\(schema).\(name)"
            case (.parameter(let number), _): text += parameter(number, statement.values[number - 1])
            case (.rows(let names, let first), .sqlite):
                text += "(SELECT "
                for (offset, name) in names.enumerated() {
                    text += offset > 0 ? ", ?" : "?"
                    text += String(first + offset)
                    text += " AS "
                    text += name
                }
                text += ") r"
            case (.rows(let names, let first), .postgres):
                let arrays = names.indices.map { parameter(first + $0, statement.values[first + $0 - 1]) }
                text += "unnest(\(arrays.joined(separator: ", "))) r(\(names.joined(separator: ", ")))"
            }
        }
        return text
    }

    private func parameter(_ number: Int, _ value: SQLStatement.Value) -> String {
        switch (value, self) {
        case (.truth, .sqlite): "?\(number) <> 0"
        // One number, as most often, needs no table of its own.
        case (.among(let numbers), .sqlite) where numbers.count == 1: "= ?\(number)"
        case (.among, .sqlite): "IN (SELECT value FROM json_each(?\(number)))"
        case (_, .sqlite): "?\(number)"
        case (.integer, .postgres): "$\(number)::bigint"
        case (.text, .postgres): "$\(number)::text"
        case (.bytes, .postgres): "$\(number)::bytea"
        case (.truth, .postgres): "$\(number)::bigint <> 0"
        case (.among, .postgres): "= ANY ($\(number)::bigint[])"
        case (.integers, .postgres): "$\(number)::bigint[]"
        case (.texts, .postgres): "$\(number)::text[]"
        case (.byteLists, .postgres): "$\(number)::bytea[]"
        }
    }
}
