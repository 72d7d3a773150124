/// Values under small numbers, which are given out again when a value is taken out.
struct Slots<Value> {
    private var values: [Value?] = []
    private var free: [UInt32] = []

    var count: Int { values.count - free.count }
    /// The numbers in use, ascending.
    var numbers: [UInt32] { values.indices.filter { values[$0] != nil }.map { UInt32($0) } }

    mutating func insert(_ value: Value) -> UInt32 {
        if let number = free.popLast() {
            values[Int(number)] = value
            return number
        }
        values.append(value)
        return UInt32(values.count - 1)
    }

    mutating func remove(_ number: UInt32) -> Value? {
        guard let value = values[Int(number)] else { return nil }
        values[Int(number)] = nil
        free.append(number)
        return value
    }

    subscript(number: UInt32) -> Value? {
        get { values[Int(number)] }
        set { values[Int(number)] = newValue }
    }
}
