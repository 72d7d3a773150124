internal import UnicodeText

/// The fields of a record by their paths, in order, each once.
///
/// A field of an object within the record has a path with periods: `author.name`. Names are in NFC.
public struct RecordFields: Hashable, Sendable {
    /// The paths, sorted by their bytes.
    public private(set) var paths: [String] = []
    /// The value of each path.
    public private(set) var values: [FieldValue] = []

    /// Creates fields; of equal paths the last counts.
    public init(_ fields: [(path: String, value: FieldValue)] = []) {
        for (path, value) in fields { self[path] = value }
    }

    /// The value of a field; nil if the record does not have it.
    public subscript(path: String) -> FieldValue? {
        get {
            let path = TextForm.canonical.applied(to: path)
            let index = insertionIndex(of: path)
            return index < paths.count && paths[index].utf8.elementsEqual(path.utf8) ? values[index] : nil
        }
        set {
            let path = TextForm.canonical.applied(to: path)
            let index = insertionIndex(of: path)
            let isThere = index < paths.count && paths[index].utf8.elementsEqual(path.utf8)
            switch (isThere, newValue) {
            case (true, let value?): values[index] = value
            case (true, nil):
                paths.remove(at: index)
                values.remove(at: index)
            case (false, let value?):
                paths.insert(path, at: index)
                values.insert(value, at: index)
            case (false, nil): break
            }
        }
    }

    /// The index at which a path is, or would be inserted.
    private func insertionIndex(of path: String) -> Int {
        var low = 0
        var high = paths.count
        while low < high {
            let middle = (low + high) / 2
            if paths[middle].utf8.lexicographicallyPrecedes(path.utf8) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// How large the record of a single event may be: everything that a publisher controls has a bound.
public enum RecordLimits {
    /// How many fields a record may have, those of nested objects among them.
    public static let fieldsMaximum = 256
    /// How many members a list may have.
    public static let membersMaximum = 256
    /// The length of a text, of bytes and of the name of another record, in bytes.
    public static let textBytesMaximum = 64 * 1024
    /// The length of the path of a field, in bytes.
    public static let pathBytesMaximum = PredicateLimits.pathBytesMaximum
    /// How deep objects are looked into: what lies deeper can not be asked for and is left out.
    public static let pathNamesMaximum = PredicateLimits.pathNamesMaximum
}
