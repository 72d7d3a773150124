public import PushCore

extension PostgresRegistry: PauseRegistry {
    /// The pauses in force.
    public func pauses() throws(RegistryError) -> [AppPause] {
        guard try schemaState().version >= AppPause.schemaVersion else { return [] }
        return try ask([Call("SELECT \(AppPause.readColumns) FROM apus.pause ORDER BY app")])[0].map { AppPause($0) }
    }

    /// Pauses an app or all.
    public func setPause(_ pause: AppPause) throws(RegistryError) {
        try requireSchema(AppPause.schemaVersion, for: "Pausing")
        try pause.check()
        let columns = AppPause.storedColumns
        let insertion = Call(
            """
            INSERT INTO apus.pause (\(columns.names()))
            SELECT \(columns.values(of: "r")) FROM unnest(\(columns.arrays(from: 1))) r(\(columns.names()))
            ON CONFLICT (app) DO UPDATE
            SET reason = excluded.reason, user_name = excluded.user_name, at = excluded.at
            """, columns.parameters([pause]))
        try writing(durable: true) { (transaction) throws(RegistryError) in _ = try transaction.commit([insertion]) }
    }

    /// Ends the pause of an app, or the pause of all if it is nil.
    public func removePause(app: String?) throws(RegistryError) -> Bool {
        try requireSchema(AppPause.schemaVersion, for: "Pausing")
        let deletion = Call("DELETE FROM apus.pause WHERE app = $1::text RETURNING 1::bigint", [.text(app ?? "")])
        return try writing(durable: true) { (transaction) throws(RegistryError) in
            try transaction.commit([deletion])[0].count > 0
        }
    }
}
