internal import Essentials
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

    /// Makes room for so many fields at once.
    public mutating func reserveCapacity(_ count: Int) {
        paths.reserveCapacity(count)
        values.reserveCapacity(count)
    }

    /// The value of a field; nil if the record does not have it.
    public subscript(path: String) -> FieldValue? {
        get {
            let path = TextForm.canonical.applied(to: path)
            let (index, isThere) = position(of: path)
            return isThere ? values[index] : nil
        }
        set {
            let path = TextForm.canonical.applied(to: path)
            let (index, isThere) = position(of: path)
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
    private func position(of path: String) -> (index: Int, isThere: Bool) {
        var low = 0
        var high = paths.count
        while low < high {
            let middle = (low + high) / 2
            let order = paths[middle].byteOrder(to: path)
            if order == 0 { return (middle, true) }
            if order < 0 { low = middle + 1 } else { high = middle }
        }
        return (low, false)
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
    /// How deep objects are looked into; deeper fields cannot be asked for and are left out.
    public static let pathNamesMaximum = PredicateLimits.pathNamesMaximum
}
