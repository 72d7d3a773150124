import CPostgres
import Foundation
import PushTestKit

/// What a connection to PostgreSQL sends and receives from now on, as libpq writes it down: a line for each message.
struct ConnectionTrace: Sendable {
    private let path: String

    /// Begins to trace; the file stays open, because the connection may outlive everything else.
    init(_ connection: OpaquePointer?, path: String) throws {
        guard let file = fopen(path, "w") else { throw PrivateServerFailure("no trace in \(path)") }
        PQtrace(connection, file)
        self.path = path
    }

    /// How often the client has waited for the server: each time, its last message is one of these two.
    func roundTripCount() throws -> Int {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").count { line in
            line.contains("\tF\t") && (line.contains("\tSync") || line.contains("\tQuery"))
        }
    }
}
