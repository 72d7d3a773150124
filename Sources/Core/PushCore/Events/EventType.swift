/// The types of events that Apus knows, by the last two labels of their names.
enum EventType: String, CaseIterable {
    case datasetChanged = "dataset.changed"
    case datasetDeleted = "dataset.deleted"
    case datasetsMerged = "datasets.merged"
    case recordCreated = "record.created"
    case recordUpdated = "record.updated"
    case recordDeleted = "record.deleted"
    case pushRequested = "push.requested"

    /// Reads a type such as `com.example.dataset.changed`; nil if Apus does not know it.
    init?(utf8 bytes: UnsafeBufferPointer<UInt8>) {
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
    var isOfRecord: Bool { self == .recordCreated || self == .recordUpdated || self == .recordDeleted }

    /// For messages: all of them, in a sentence.
    static let listing = allCases.map(\.rawValue).joined(separator: ", ")
}
