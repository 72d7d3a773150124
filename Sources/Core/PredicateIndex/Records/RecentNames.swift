import Essentials

/// The names in the change that was matched last: the next one mostly has the same, which then need not be hashed.
struct RecentNames {
    /// How many paths are remembered.
    private static let pathsMaximum = 256

    /// The paths of the record's fields, and their numbers.
    private var paths: [String] = []
    private var pathNumbers: [UInt32] = []
    /// The app and the record type, and the numbers of the scopes that a change of them is searched in.
    private var application: String?
    private var recordType: String?
    private var scopeNumbers: [UInt32]?

    /// Forgets all paths: the numbers of some have changed.
    mutating func forgetPaths() {
        paths.removeAll(keepingCapacity: true)
        pathNumbers.removeAll(keepingCapacity: true)
    }

    /// Forgets the scopes: the numbers of some have changed.
    mutating func forgetScopes() { scopeNumbers = nil }

    /// The number of a field's path; nil if it is not that of the same field of the last change.
    @inline(__always)
    func number(ofPath path: String, field: Int) -> UInt32? {
        field < paths.count && paths[field] == path ? pathNumbers[field] : nil
    }

    /// Remembers the number of a field's path.
    mutating func remember(_ number: UInt32, ofPath path: String, field: Int) {
        if field < paths.count {
            paths[field] = path
            pathNumbers[field] = number
        } else if field == paths.count, field < Self.pathsMaximum {
            paths.append(path)
            pathNumbers.append(number)
        }
    }

    /// The scopes of a change; nil if it is not of the same app and type as the last.
    func scopes(_ application: String, _ recordType: String?) -> [UInt32]? {
        self.application.hasBytes(of: application) && self.recordType.hasBytes(of: recordType) ? scopeNumbers : nil
    }

    /// Remembers the scopes of a change.
    mutating func remember(scopes numbers: [UInt32], _ application: String, _ recordType: String?) {
        self.application = application
        self.recordType = recordType
        scopeNumbers = numbers
    }
}
