public import RegistryCore

extension PauseRegistry where Self: SQLStore {
    /// The pauses in force.
    public func pauses() throws(RegistryError) -> [AppPause] {
        guard try schemaState().version >= AppPause.schemaVersion else { return [] }
        return try ask("SELECT \(sql: AppPause.readColumns) FROM \(table: "pause") ORDER BY app") { AppPause($0) }
    }

    /// Pauses an app or all.
    public func setPause(_ pause: AppPause) throws(RegistryError) {
        try requireSchema(AppPause.schemaVersion, for: "Pausing")
        try pause.check()
        try write(
            durable: true,
            """
            INSERT INTO \(table: "pause") (\(sql: AppPause.storedColumns.names()))
            VALUES (\(AppPause.storedColumns, of: pause))
            ON CONFLICT (app) DO UPDATE
            SET reason = excluded.reason, user_name = excluded.user_name, at = excluded.at
            """)
    }

    /// Ends the pause of an app, or the pause of all if it is nil.
    public func removePause(app: String?) throws(RegistryError) -> Bool {
        try requireSchema(AppPause.schemaVersion, for: "Pausing")
        return try write(durable: true, "DELETE FROM \(table: "pause") WHERE app = \(app ?? "")") > 0
    }
}
