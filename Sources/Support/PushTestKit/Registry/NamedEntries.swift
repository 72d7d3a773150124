import Essentials

/// Values by name, names being told apart by their bytes, as databases do.
struct NamedEntries<Value> {
    private var entries: [ByteText: Value] = [:]

    var values: Dictionary<ByteText, Value>.Values { entries.values }
    var count: Int { entries.count }

    subscript(name: String) -> Value? {
        get { entries[ByteText(name)] }
        set { entries[ByteText(name)] = newValue }
    }

    subscript(name: String, default standard: @autoclosure () -> Value) -> Value {
        get { entries[ByteText(name)] ?? standard() }
        set { entries[ByteText(name)] = newValue }
    }

    mutating func removeValue(forKey name: String) -> Value? { entries.removeValue(forKey: ByteText(name)) }
}
