import Essentials
public import RegistryCore

extension AppPause {
    /// The columns of `pause`; the app is empty for all, for no app has such a name.
    public static let storedColumns: [StoredColumn<AppPause>] = [
        .text("app") { $0.app ?? "" }, .text("reason") { $0.reason }, .text("user_name") { $0.user },
        .integer("at") { $0.atMilliseconds },
    ]

    /// The columns that `init(_:)` reads.
    public static let readColumns = storedColumns.names()

    /// Reads a pause from a row.
    public init(_ row: some RowReader) {
        let app = row.text(0)
        self.init(
            app: app.isEmpty ? nil : app, reason: row.text(1), user: row.text(2), atMilliseconds: row.integer(3))
    }
}
