import ChangeEvents
import Geography
import PostgreSQL
import Predicates
import PushTestKit

@testable import Relay

/// A value of SQL and the field that it is; equal literals of a column are equal bytes.
struct RandomValue: Hashable {
    let literal: String
    /// What a worker reads; nil for no field.
    let field: FieldValue?

    static let null = RandomValue(literal: "NULL", field: nil)
}

/// Random changes of a table with a column of each type, and a naive copy of it.
struct RecordWalk {
    /// The types of the columns, each with what makes its values.
    private static let columns: [(type: String, make: @Sendable (inout SeededGenerator) -> RandomValue)] = [
        ("text", text), ("varchar", text), ("citext", text), ("mood", mood), ("boolean", boolean), ("bigint", integer),
        ("numeric", numeric), ("double precision", double), ("real", real), ("timestamptz", moment),
        ("timestamp", moment), ("date", day), ("bytea", bytes), ("point", place), ("text[]", { list(of: text, &$0) }),
        ("numeric[]", { list(of: numeric, &$0) }), ("timestamptz[]", { list(of: moment, &$0) }),
        ("bytea[]", { list(of: bytes, &$0) }), ("mood[]", { list(of: mood, &$0) }),
        ("real[]", { list(of: real, &$0) }),
    ]

    private struct Key: Hashable {
        let number: Int
        let text: String
        var name: String { "\(number)/\(text.replacing("%", with: "%25").replacing("/", with: "%2F"))" }
        var condition: String { "a = \(number) AND b = '\(text)'" }
    }

    private var generator: SeededGenerator
    private let outbox: TestOutbox
    private let session: PostgresConnection<OutboxError>
    private var rows: [Key: [RandomValue]] = [:]
    private var mirror: [String: RecordFields] = [:]
    private var expected: [String] = []
    private(set) var changeCount = 0
    private(set) var problem: String?

    init(_ outbox: TestOutbox, seed: UInt64) async throws {
        generator = SeededGenerator(seed: seed)
        self.outbox = outbox
        let columns = Self.columns.indices.map { "c\($0) \(Self.columns[$0].type)" }.joined(separator: ", ")
        try await outbox.run("CREATE TABLE walk (unwatched int, a int, b text, \(columns), PRIMARY KEY (a, b))")
        let fields = Self.columns.indices.map { "c\($0)" }
        try await outbox.run(WatchSQL(table: "walk", recordType: "Walk", columns: fields).text)
        session = try outbox.session()
        try execute("SET TimeZone = 'UTC'")
    }

    // MARK: Steps

    mutating func step() throws {
        let before = rows
        try execute("BEGIN")
        for _ in 0..<Int.random(in: 1...4, using: &generator) { try change() }
        if Int.random(in: 0..<6, using: &generator) == 0 {
            try execute("ROLLBACK")
            rows = before
            expected = []
        } else {
            try execute("COMMIT")
        }
        try compare()
    }

    private mutating func change() throws {
        let key = rows.keys.sorted { ($0.number, $0.text) < ($1.number, $1.text) }.randomElement(using: &generator)
        switch (Int.random(in: 0..<8, using: &generator), key) {
        case (0, let key?):
            try execute("DELETE FROM walk WHERE \(key.condition)")
            rows[key] = nil
            expected.append("deleted \(key.name)")
        case (1, let key?): try move(key)
        case (2, _):
            try execute("UPDATE walk SET unwatched = unwatched + 1, a = a, c0 = c0")
        case (3, _): try updateAll()
        case (4...6, let key?): try update(key)
        default: try insert()
        }
    }

    private mutating func insert() throws {
        let key = randomKey()
        guard rows[key] == nil else { return }
        let values = Self.columns.map { randomValue($0.make) }
        let list = values.map(\.literal).joined(separator: ", ")
        try execute("INSERT INTO walk VALUES (0, \(key.number), '\(key.text)', \(list))")
        rows[key] = values
        expected.append("created \(key.name)")
    }

    private mutating func update(_ key: Key) throws {
        guard var values = rows[key] else { return }
        var assignments = ["unwatched = 1"]
        for index in Self.columns.indices where Int.random(in: 0..<4, using: &generator) == 0 {
            if Bool.random(using: &generator) { values[index] = randomValue(Self.columns[index].make) }
            assignments.append("c\(index) = \(values[index].literal)")
        }
        try execute("UPDATE walk SET \(assignments.joined(separator: ", ")) WHERE \(key.condition)")
        if rows[key] != values { expected.append("updated \(key.name)") }
        rows[key] = values
    }

    private mutating func updateAll() throws {
        let index = Self.columns.indices.randomElement(using: &generator) ?? 0
        let value = randomValue(Self.columns[index].make)
        try execute("UPDATE walk SET c\(index) = \(value.literal)")
        for (key, values) in rows where values[index] != value {
            expected.append("updated \(key.name)")
            rows[key]?[index] = value
        }
    }

    private mutating func move(_ key: Key) throws {
        let other = randomKey()
        guard rows[other] == nil, let values = rows[key] else { return }
        try execute("UPDATE walk SET a = \(other.number), b = '\(other.text)' WHERE \(key.condition)")
        rows[key] = nil
        rows[other] = values
        expected += ["deleted \(key.name)", "created \(other.name)"]
    }

    private func execute(_ sql: String) throws { try session.execute(sql, Deadline(milliseconds: 120_000)) }

    // MARK: Events

    private mutating func compare() throws {
        let changes = try outbox.takeRecords()
        changeCount += changes.count
        for change in changes { mirror[change.recordName] = change.operation == .deleted ? nil : change.fields }
        let told = changes.map { "\($0.operation) \($0.recordName)" }
        if told.sorted() != expected.sorted() { problem = "told \(told) in place of \(expected)" }
        expected = []
        var table: [String: RecordFields] = [:]
        for (key, values) in rows {
            var fields = RecordFields()
            for (index, value) in values.enumerated() { fields["c\(index)"] = value.field }
            table[key.name] = fields
        }
        for name in Set(table.keys).union(mirror.keys).sorted() where table[name] != mirror[name] {
            problem = problem ?? Self.difference(name, table[name], mirror[name])
        }
    }

    private static func difference(_ name: String, _ table: RecordFields?, _ mirror: RecordFields?) -> String {
        guard let table, let mirror else { return "\(name) is only in the \(table == nil ? "mirror" : "table")" }
        let paths = Set(table.paths).union(mirror.paths).sorted().filter { table[$0] != mirror[$0] }
        return paths.map { path in
            "\(name).\(path): \(String(describing: mirror[path])) in place of \(String(describing: table[path]))"
        }.joined(separator: "; ")
    }

    // MARK: Values

    private mutating func randomKey() -> Key {
        Key(
            number: Int.random(in: 0..<4, using: &generator),
            text: ["", "/", "%", "%2F", "a/b", "é"].randomElement(using: &generator) ?? "")
    }

    private mutating func randomValue(_ make: (inout SeededGenerator) -> RandomValue) -> RandomValue {
        Int.random(in: 0..<5, using: &generator) == 0 ? .null : make(&generator)
    }

    private static func text(_ generator: inout SeededGenerator) -> RandomValue {
        let parts = ["a", "B", "'", "\"", "\\", "\n", "\u{1}", "e\u{301}", "ß", "👍🏽", "$", "{", ",", "NULL", " "]
        let text = (0..<Int.random(in: 0...6, using: &generator)).map { _ in
            parts.randomElement(using: &generator) ?? ""
        }.joined()
        return RandomValue(literal: SQLText.literal(text), field: .of(text))
    }

    private static func mood(_ generator: inout SeededGenerator) -> RandomValue {
        let label = Bool.random(using: &generator) ? "low" : "so, \"so\""
        return RandomValue(literal: "'\(label)'::mood", field: .string(label))
    }

    private static func boolean(_ generator: inout SeededGenerator) -> RandomValue {
        let value = Bool.random(using: &generator)
        return RandomValue(literal: "\(value)", field: .boolean(value))
    }

    private static func integer(_ generator: inout SeededGenerator) -> RandomValue {
        let bits = Int64.random(in: .min ... .max, using: &generator)
        let value = bits >> Int64.random(in: 0..<64, using: &generator)
        return RandomValue(literal: "'\(value)'::bigint", field: .integer(value))
    }

    private static func numeric(_ generator: inout SeededGenerator) -> RandomValue {
        switch Int.random(in: 0..<12, using: &generator) {
        case 0: return RandomValue(literal: "'NaN'::numeric", field: nil)
        case 1: return RandomValue(literal: "'-Infinity'::numeric", field: .of(-Double.infinity))
        default: break
        }
        // Neither the first digit nor the last is 0: equal literals are to be equal values.
        let count = Int.random(in: 1...30, using: &generator)
        var digits = (0..<count).map { _ in "\(Int.random(in: 1...9, using: &generator))" }.joined()
        var exponent = Int.random(in: -25...10, using: &generator) * (count == 30 ? 30 : 1)
        if exponent <= 0, Bool.random(using: &generator) {
            digits += "000"
            exponent -= 3
        }
        let sign = Bool.random(using: &generator) ? "-" : ""
        let field = whole(sign, digits, exponent) ?? Double("\(sign)\(digits)e\(exponent)").flatMap(FieldValue.of)
        return RandomValue(literal: "'\(sign)\(digits)e\(exponent)'::numeric", field: field)
    }

    /// A number without a fraction that fits into 64 bits; nil for others.
    private static func whole(_ sign: String, _ digits: String, _ exponent: Int) -> FieldValue? {
        let written: String
        if exponent >= 0 {
            guard exponent < 20 else { return nil }
            written = digits + String(repeating: "0", count: exponent)
        } else {
            guard digits.count > -exponent, digits.suffix(-exponent).allSatisfy({ $0 == "0" }) else { return nil }
            written = String(digits.dropLast(-exponent))
        }
        return Int64(sign + written).map { .integer($0) }
    }

    private static func double(_ generator: inout SeededGenerator) -> RandomValue {
        let value =
            Bool.random(using: &generator)
            ? Double(bitPattern: generator.next()) : Double(Int.random(in: -1_000...1_000, using: &generator)) / 8
        return RandomValue(literal: "'\(value.isNaN ? .nan : value)'::double precision", field: .of(value))
    }

    private static func real(_ generator: inout SeededGenerator) -> RandomValue {
        guard Int.random(in: 0..<12, using: &generator) > 0 else {
            let value = [Double.nan, .infinity, -.infinity].randomElement(using: &generator) ?? .nan
            return RandomValue(literal: "'\(value)'::real", field: .of(value))
        }
        // Six digits survive a real. With the exponents between these, a number may lie in the middle of two reals, and
        // PostgreSQL writes more digits of the one that it takes.
        let digits = Int.random(in: -999_999...999_999, using: &generator)
        let isLarge = Bool.random(using: &generator)
        let literal = "\(digits)e\(Int.random(in: isLarge ? 12...32 : -37...0, using: &generator))"
        return RandomValue(literal: "'\(literal)'::real", field: Double(literal).flatMap(FieldValue.of))
    }

    private static func moment(_ generator: inout SeededGenerator) -> RandomValue {
        guard Int.random(in: 0..<8, using: &generator) > 0 else {
            return RandomValue(literal: "'-infinity'::timestamptz", field: .date(milliseconds: .min))
        }
        let microseconds = Int64.random(in: -60_000_000_000_000_000...200_000_000_000_000_000, using: &generator)
        let floor = microseconds >= 0 ? microseconds / 1_000 : -((-microseconds + 999) / 1_000)
        return RandomValue(
            literal: "(timestamp 'epoch' + interval '\(microseconds) microseconds') AT TIME ZONE 'UTC'",
            field: .date(milliseconds: floor))
    }

    private static func day(_ generator: inout SeededGenerator) -> RandomValue {
        let days = Int64.random(in: -2_000_000...2_000_000, using: &generator)
        return RandomValue(literal: "date 'epoch' + (\(days))", field: .date(milliseconds: days * 86_400_000))
    }

    private static func bytes(_ generator: inout SeededGenerator) -> RandomValue {
        let bytes = (0..<Int.random(in: 0...120, using: &generator)).map { _ in
            UInt8.random(in: 0...255, using: &generator)
        }
        let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return RandomValue(literal: "'\\x\(hex)'::bytea", field: .bytes(bytes))
    }

    private static func place(_ generator: inout SeededGenerator) -> RandomValue {
        let latitude = Double.random(in: -90...90, using: &generator)
        let longitude = Double.random(in: -180...180, using: &generator)
        return RandomValue(
            literal: "point '(\(longitude),\(latitude))'",
            field: Location(latitude: latitude, longitude: longitude).map { .location($0) })
    }

    private static func list(
        of make: (inout SeededGenerator) -> RandomValue, _ generator: inout SeededGenerator
    ) -> RandomValue {
        let members = (0..<Int.random(in: 0...4, using: &generator)).map { _ in
            Int.random(in: 0..<5, using: &generator) == 0 ? RandomValue.null : make(&generator)
        }
        guard members.contains(where: { $0 != .null }) else { return RandomValue(literal: "'{}'", field: .list([])) }
        return RandomValue(
            literal: "ARRAY[\(members.map(\.literal).joined(separator: ", "))]",
            field: .list(members.compactMap(\.field)))
    }
}
