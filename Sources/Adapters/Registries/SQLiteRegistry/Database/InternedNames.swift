import Essentials
import RegistryCore

/// A table of names with numbers in their place (`id`, `name`), so that a row which is repeated a million times holds a
/// byte or two instead of a text.
///
/// The rows of such a table are never changed or deleted, so cached ones stay true, also when another process adds
/// names.
final class InternedNames {
    private let rememberedMaximum: Int
    private let statements: StatementCache
    private let selectIdentifierSQL: String
    private let selectNameSQL: String
    private let insertSQL: String
    private let connection: Connection
    private var identifiers: [ByteText: Int64] = [:]
    private var names: [Int64: String] = [:]
    /// The name that was asked for last: rows that follow each other mostly have the same.
    private var lastName: (identifier: Int64, name: String)?

    /// Creates the view of one table.
    ///
    /// - Parameters:
    ///   - table: the table.
    ///   - rememberedMaximum: beyond this many names, the memory is dropped and read again as needed.
    ///   - connection: where the table is.
    ///   - statements: the connection's prepared statements.
    init(table: String, rememberedMaximum: Int, connection: Connection, statements: StatementCache) {
        self.rememberedMaximum = rememberedMaximum
        self.connection = connection
        self.statements = statements
        selectIdentifierSQL = "SELECT id FROM \(table) WHERE name = ?"
        selectNameSQL = "SELECT name FROM \(table) WHERE id = ?"
        insertSQL = "INSERT INTO \(table) (name) VALUES (?)"
    }

    /// The number of a name, or nil if the table does not have it.
    func identifier(of name: String) throws(RegistryError) -> Int64? {
        if let known = identifiers[ByteText(name)] { return known }
        let statement = try statements.statement(selectIdentifierSQL)
        statement.bind(1, name)
        guard let identifier = try statement.firstInteger() else { return nil }
        remember(name, identifier)
        return identifier
    }

    /// The number of a name, which is added if the table does not have it; call it in a write transaction.
    func identifierAdding(_ name: String) throws(RegistryError) -> Int64 {
        if let known = try identifier(of: name) { return known }
        let statement = try statements.statement(insertSQL)
        statement.bind(1, name)
        try statement.run()
        let identifier = connection.lastInsertedRow
        remember(name, identifier)
        return identifier
    }

    /// The name with a number.
    func name(of identifier: Int64) throws(RegistryError) -> String {
        if let lastName, lastName.identifier == identifier { return lastName.name }
        if let known = names[identifier] {
            lastName = (identifier, known)
            return known
        }
        return try read(identifier)
    }

    private func read(_ identifier: Int64) throws(RegistryError) -> String {
        let statement = try statements.statement(selectNameSQL)
        statement.bind(1, identifier)
        defer { statement.reset() }
        guard try statement.step() else {
            throw RegistryError(
                .corrupt, RegistryError.corruptMessage(path: connection.path, reason: "a reference leads nowhere"))
        }
        let name = statement.text(0)
        remember(name, identifier)
        return name
    }

    /// Forgets the cache, because a transaction that may have added names was rolled back.
    func forget() {
        identifiers.removeAll()
        names.removeAll()
        lastName = nil
    }

    private func remember(_ name: String, _ identifier: Int64) {
        guard rememberedMaximum > 0 else { return }
        if names.count >= rememberedMaximum { forget() }
        identifiers[ByteText(name)] = identifier
        names[identifier] = name
    }
}
