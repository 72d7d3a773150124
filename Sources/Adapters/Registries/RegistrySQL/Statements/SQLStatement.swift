/// A statement with its values, in SQL that both databases understand.
///
/// An interpolated value becomes a parameter: `"DELETE FROM \(table: "pause") WHERE app = \(name)"`. The texts come
/// from constants, so the number of prepared statements is bounded.
public struct SQLStatement: ExpressibleByStringInterpolation, Sendable {
    /// A value of a statement.
    public enum Value: Sendable {
        /// A number or NULL.
        case integer(Int64?)
        /// A text or NULL.
        case text(String?)
        /// Bytes.
        case bytes([UInt8])
        /// A truth value.
        case truth(Bool)
        /// Numbers, one of which a column has to be.
        case among([Int64])
        /// A column of the table `r` of rows: numbers or NULL.
        case integers([Int64?])
        /// A column of the table `r` of rows: texts or NULL.
        case texts([String?])
        /// A column of the table `r` of rows: bytes.
        case byteLists([[UInt8]])
    }

    enum Piece: Sendable {
        case text(String)
        /// A text of each database.
        case differing(sqlite: String, postgres: String)
        case table(String)
        /// The parameter of a number, from 1.
        case parameter(Int)
        /// The table of rows: the names of its columns, and the parameter of the first.
        case rows([String], first: Int)
    }

    fileprivate(set) var pieces: [Piece] = []
    /// The values, in the order of their parameters.
    public fileprivate(set) var values: [Value] = []
    /// How many rows the table `r` has; nil if the statement has no such table.
    public fileprivate(set) var rowCount: Int?

    fileprivate init() {}

    /// Creates a statement without values.
    public init(stringLiteral text: String) { pieces = [.text(text)] }

    /// Creates a statement with values.
    public init(stringInterpolation: StringInterpolation) { self = stringInterpolation.statement }

    /// Adds a part, which has no table of rows, behind the statement.
    public static func += (statement: inout SQLStatement, more: SQLStatement) {
        let before = statement.values.count
        statement.pieces += more.pieces.map { piece in
            if case .parameter(let number) = piece { .parameter(number + before) } else { piece }
        }
        statement.values += more.values
    }

    /// Gathers the parts of a statement.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var statement = SQLStatement()

        /// Begins a statement.
        public init(literalCapacity: Int, interpolationCount: Int) {
            statement.pieces.reserveCapacity(2 * interpolationCount + 1)
            statement.values.reserveCapacity(interpolationCount)
        }

        /// Adds SQL.
        public mutating func appendLiteral(_ literal: String) { statement.pieces.append(.text(literal)) }

        /// Adds SQL that is a constant: names of columns.
        public mutating func appendInterpolation(sql: String) { statement.pieces.append(.text(sql)) }

        /// Adds SQL that the databases write in different ways, or only one of them needs: a lock of rows.
        public mutating func appendInterpolation(sqlite: String = "", postgres: String) {
            statement.pieces.append(.differing(sqlite: sqlite, postgres: postgres))
        }

        /// Adds a part, which has no table of rows.
        public mutating func appendInterpolation(_ part: SQLStatement) { statement += part }

        /// Adds the name of a table.
        public mutating func appendInterpolation(table: String) { statement.pieces.append(.table(table)) }

        /// Adds a number or NULL.
        public mutating func appendInterpolation(_ value: Int64?) { add(.integer(value)) }

        /// Adds a text or NULL.
        public mutating func appendInterpolation(_ value: String?) { add(.text(value)) }

        /// Adds bytes.
        public mutating func appendInterpolation(_ value: [UInt8]) { add(.bytes(value)) }

        /// Adds `= …`, which is true for each of some numbers.
        public mutating func appendInterpolation(among numbers: [Int64]) { add(.among(numbers)) }

        /// Adds the values of columns, with commas between.
        public mutating func appendInterpolation<Source>(_ columns: [StoredColumn<Source>], of source: Source) {
            for (index, column) in columns.enumerated() {
                if index > 0 { appendLiteral(", ") }
                switch column {
                case .integer(_, let get): add(.integer(get(source)))
                case .text(_, let get): add(.text(get(source)))
                case .bytes(_, let get): add(.bytes(get(source)))
                case .truth(_, let get): add(.truth(get(source)))
                }
            }
        }

        /// Adds a table `r` of columns, and of `k`, the number of the row from 0; a statement has one at most.
        ///
        /// SQLite runs the statement once for each row, PostgreSQL once for all. So none may compare rows of `r` with
        /// each other; a truth value is a number.
        public mutating func appendInterpolation<Source>(rows columns: [StoredColumn<Source>], of sources: [Source]) {
            statement.pieces.append(.rows(columns.map(\.name) + ["k"], first: statement.values.count + 1))
            for column in columns {
                switch column {
                case .integer(_, let get): statement.values.append(.integers(sources.map(get)))
                case .text(_, let get): statement.values.append(.texts(sources.map(get)))
                case .bytes(_, let get): statement.values.append(.byteLists(sources.map(get)))
                case .truth(_, let get): statement.values.append(.integers(sources.map { get($0) ? 1 : 0 }))
                }
            }
            statement.values.append(.integers(sources.indices.map { Int64($0) }))
            statement.rowCount = sources.count
        }

        private mutating func add(_ value: Value) {
            statement.values.append(value)
            statement.pieces.append(.parameter(statement.values.count))
        }
    }
}
