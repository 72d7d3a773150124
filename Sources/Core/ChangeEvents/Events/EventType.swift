/// The types of events that Apus knows, by the last two labels of their names.
///
/// The two labels have 15 bytes at most with their period; `init(utf8:)` finds no longer ones.
public enum EventType: String, CaseIterable, Sendable {
    /// A dataset has a newer sync count.
    case datasetChanged = "dataset.changed"
    /// A dataset was deleted.
    case datasetDeleted = "dataset.deleted"
    /// Datasets were merged into one.
    case datasetsMerged = "datasets.merged"
    /// A record was created.
    case recordCreated = "record.created"
    /// A record was changed.
    case recordUpdated = "record.updated"
    /// A record was deleted.
    case recordDeleted = "record.deleted"
    /// A backend asks for a push.
    case pushRequested = "push.requested"

    /// Reads a type such as `com.example.dataset.changed`; nil if Apus does not know it.
    public init?(utf8 bytes: UnsafeBufferPointer<UInt8>) {
        let period = UInt8(ascii: ".")
        guard let last = bytes.lastIndex(of: period) else { return nil }
        let labels: UnsafeBufferPointer<UInt8>
        if let previous = bytes[..<last].lastIndex(of: period) {
            labels = UnsafeBufferPointer(rebasing: bytes[(previous + 1)...])
        } else {
            labels = bytes
        }
        // Every name fits into a `String` without an allocation; a longer one is none of them.
        guard labels.count <= 15 else { return nil }
        self.init(rawValue: String(decoding: labels, as: UTF8.self))
    }

    /// Whether it tells of a record.
    public var isOfRecord: Bool { self == .recordCreated || self == .recordUpdated || self == .recordDeleted }

    /// For messages: all of them, in a sentence.
    static let listing = allCases.map(\.rawValue).joined(separator: ", ")
}
