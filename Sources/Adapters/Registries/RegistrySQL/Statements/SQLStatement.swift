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
    }

    fileprivate enum Piece: Sendable {
        case text(String)
        case table(String)
        /// The parameter of a number, from 1.
        case parameter(Int)
    }

    fileprivate var pieces: [Piece] = []
    /// The values, in the order of their parameters.
    public fileprivate(set) var values: [Value] = []

    /// Creates a statement without values.
    public init(stringLiteral text: String) { pieces = [.text(text)] }

    /// Creates a statement with values.
    public init(stringInterpolation: StringInterpolation) { self = stringInterpolation.statement }

    /// Adds a condition behind the statement.
    public static func += (statement: inout SQLStatement, more: SQLStatement) {
        let before = statement.values.count
        statement.pieces += more.pieces.map { piece in
            if case .parameter(let number) = piece { .parameter(number + before) } else { piece }
        }
        statement.values += more.values
    }

    /// Gathers the parts of a statement.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var statement = SQLStatement(stringLiteral: "")

        /// Begins a statement.
        public init(literalCapacity: Int, interpolationCount: Int) {}

        /// Adds SQL.
        public mutating func appendLiteral(_ literal: String) { statement.pieces.append(.text(literal)) }

        /// Adds SQL that is a constant: names of columns.
        public mutating func appendInterpolation(sql: String) { statement.pieces.append(.text(sql)) }

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

        private mutating func add(_ value: Value) {
            statement.values.append(value)
            statement.pieces.append(.parameter(statement.values.count))
        }
    }
}

/// The way in which a database writes what differs between both.
public struct SQLDialect: Sendable {
    /// The name of a table in a statement.
    public let table: @Sendable (String) -> String
    /// The parameter of a number, from 1, that takes a value.
    public let parameter: @Sendable (Int, SQLStatement.Value) -> String

    /// Creates a dialect.
    public init(
        table: @escaping @Sendable (String) -> String,
        parameter: @escaping @Sendable (Int, SQLStatement.Value) -> String
    ) {
        self.table = table
        self.parameter = parameter
    }

    /// The text of a statement.
    public func text(_ statement: SQLStatement) -> String {
        var text = ""
        for piece in statement.pieces {
            switch piece {
            case .text(let sql): text += sql
            case .table(let name): text += table(name)
            case .parameter(let number): text += parameter(number, statement.values[number - 1])
            }
        }
        return text
    }
}
