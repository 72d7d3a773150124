public import Essentials

/// The last report of a process, as the registry keeps it.
public struct WorkerReport: Hashable, Sendable {
    /// Which process: unique among those that use the registry.
    @ByBytes public var identifier: String
    /// When it was written, in milliseconds since 1970, by the clock of its process.
    public var reportedAtMilliseconds: Int64
    /// The report itself: a `WorkerStatus` in JSON.
    public var content: [UInt8]

    /// Creates a report.
    public init(identifier: String, reportedAtMilliseconds: Int64, content: [UInt8]) {
        self.identifier = identifier
        self.reportedAtMilliseconds = WallTime(milliseconds: reportedAtMilliseconds).milliseconds
        self.content = content
    }

    /// Makes sure that a report may be kept.
    public func check() throws(RegistryError) {
        guard content.count <= WorkerReportRules.contentBytesMaximum else {
            throw RegistryError(
                .invalid,
                "A report of \(content.count) bytes is too large; at most "
                    + "\(WorkerReportRules.contentBytesMaximum) are kept.")
        }
    }
}

/// The times and limits of reports, which all processes share.
public enum WorkerReportRules {
    /// The version of the registry's schema that brought reports and the audit log.
    public static let schemaVersion: Int64 = 2
    /// How often a process reports, and the length of a sample, in milliseconds.
    public static let intervalMilliseconds: Int64 = 5_000
    /// The age from which a report no longer says how its process is doing.
    public static let staleMilliseconds: Int64 = 20_000
    /// How long the report of a process is kept that has not ended in order.
    public static let keptMilliseconds: Int64 = 600_000
    /// How many samples a report has at most.
    public static let samplesMaximum = 60
    /// The size of a report.
    public static let contentBytesMaximum = 256 * 1_024
    /// How many reports are read.
    public static let countMaximum = 1_000
}
