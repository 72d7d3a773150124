import Essentials
public import RegistryCore

extension WorkerReport {
    /// The columns of `worker_report` that `init(_:)` reads.
    public static let readColumns = "id, reported_at, content"

    /// Reads a report from a row.
    public init(_ row: some RowReader) {
        self.init(identifier: row.text(0), reportedAtMilliseconds: row.integer(1), content: row.bytes(2))
    }
}
