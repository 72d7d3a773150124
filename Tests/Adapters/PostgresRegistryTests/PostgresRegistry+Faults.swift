@testable import PostgresRegistry

extension PostgresRegistry {
    /// Takes a lock that keeps everybody else from the devices, until `disconnect`.
    func lockDevices() throws {
        let deadline = Deadline(milliseconds: 60_000)
        try connection.execute("BEGIN; LOCK TABLE device IN ACCESS EXCLUSIVE MODE", deadline)
    }

    /// Ends the connection; the next call makes another.
    func disconnect() { connection.close() }
}
