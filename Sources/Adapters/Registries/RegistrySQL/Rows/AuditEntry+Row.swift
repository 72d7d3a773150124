import Essentials
public import RegistryCore

extension AuditEntry {
    /// The columns of `audit_entry` that adding one writes.
    public static let storedColumns: [StoredColumn<AuditEntry>] = [
        .integer("at") { $0.atMilliseconds }, .text("user_name") { $0.user }, .text("user_role") { $0.role },
        .text("address") { $0.address }, .text("process") { $0.process }, .text("action") { $0.action },
        .text("target") { $0.target }, .integer("selected") { Int64($0.selectedCount) },
        .text("state") { $0.progress.state.rawValue }, .integer("done") { Int64($0.progress.doneCount) },
        .integer("refused") { Int64($0.progress.refusedCount) }, .text("detail") { $0.progress.detail },
        .integer("changed_at") { $0.progress.changedAtMilliseconds },
    ]

    /// The columns that `init(_:)` reads.
    public static let readColumns = "number, \(storedColumns.names())"

    /// Reads an entry; a state that there is not counts as failed, for somebody has edited it.
    public init(_ row: some RowReader) {
        self.init(
            atMilliseconds: row.integer(1), user: row.text(2), role: row.text(3), address: row.text(4),
            process: row.text(5), action: row.text(6), target: row.text(7),
            selectedCount: Int(clamping: row.integer(8)),
            progress: Progress(
                State(rawValue: row.text(9)) ?? .failed, doneCount: Int(clamping: row.integer(10)),
                refusedCount: Int(clamping: row.integer(11)), detail: row.optionalText(12),
                changedAtMilliseconds: row.integer(13)))
        number = row.integer(0)
    }
}
