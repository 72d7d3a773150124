public import RegistryCore

extension PauseRegistry where Self: SQLStore {
    /// The pauses in force.
    public func pauses() throws(RegistryError) -> [AppPause] {
        guard try schemaState().version >= AppPause.schemaVersion else { return [] }
        return try ask("SELECT \(sql: AppPause.storedColumns.names()) FROM \(table: "pause") ORDER BY app") {
            AppPause($0)
        }
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

extension AppPause {
    /// The columns of `pause`; the app is empty for all, for no app has such a name.
    fileprivate static let storedColumns: [StoredColumn<AppPause>] = [
        .text("app") { $0.app ?? "" }, .text("reason") { $0.reason }, .text("user_name") { $0.user },
        .integer("at") { $0.atMilliseconds },
    ]

    /// Reads a pause from a row.
    fileprivate init(_ row: some RowReader) {
        let app = row.text(0)
        self.init(
            app: app.isEmpty ? nil : app, reason: row.text(1), user: row.text(2), atMilliseconds: row.integer(3))
    }
}
