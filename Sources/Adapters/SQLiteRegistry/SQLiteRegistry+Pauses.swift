public import PushCore

extension SQLiteRegistry: PauseRegistry {
    /// The pauses in force.
    public func pauses() throws(RegistryError) -> [AppPause] {
        guard try schemaState().version >= AppPause.schemaVersion else { return [] }
        return try reading { () throws(RegistryError) in
            let statement = try statements.statement("SELECT \(AppPause.readColumns) FROM pause ORDER BY app")
            var pauses: [AppPause] = []
            try statement.forEachRow { row in pauses.append(AppPause(row)) }
            return pauses
        }
    }

    /// Pauses an app or all.
    public func setPause(_ pause: AppPause) throws(RegistryError) {
        try requireSchema(AppPause.schemaVersion, for: "Pausing")
        try pause.check()
        try writing(durable: true) { () throws(RegistryError) in
            let statement = try statements.statement(
                """
                INSERT OR REPLACE INTO pause (\(AppPause.storedColumns.names()))
                VALUES (\(AppPause.storedColumns.parameters(from: 1)))
                """)
            statement.bind(AppPause.storedColumns, of: pause, from: 1)
            try statement.run()
        }
    }

    /// Ends the pause of an app, or the pause of all if it is nil.
    public func removePause(app: String?) throws(RegistryError) -> Bool {
        try requireSchema(AppPause.schemaVersion, for: "Pausing")
        return try writing(durable: true) { () throws(RegistryError) in
            let statement = try statements.statement("DELETE FROM pause WHERE app = ? RETURNING 1")
            statement.bind(1, app ?? "")
            return try statement.firstInteger() != nil
        }
    }
}
