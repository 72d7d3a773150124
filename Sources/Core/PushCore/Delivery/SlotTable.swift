/// Values under numbers that are given out again after use, each time with a new generation.
///
/// Looking one up is an array access, and in steady state nothing is allocated. A number whose value was removed finds
/// nothing, even if its place has another value by now.
struct SlotTable<Value: Sendable>: Sendable {
    private struct Slot {
        var generation: UInt32 = 0
        var value: Value?
    }

    private var slots: [Slot] = []
    private var free: [Int] = []

    /// How many values there are.
    var count: Int { slots.count - free.count }

    mutating func insert(_ value: consuming Value) -> UInt64 {
        if let index = free.popLast() {
            slots[index].value = value
            return UInt64(slots[index].generation) << 32 | UInt64(index)
        }
        slots.append(Slot(value: value))
        return UInt64(slots.count - 1)
    }

    @discardableResult
    mutating func remove(_ number: UInt64) -> Value? {
        guard let index = index(of: number), let value = slots[index].value.take() else { return nil }
        slots[index].generation &+= 1
        free.append(index)
        return value
    }

    /// Takes a value out to change it, so that the arrays inside stay uniquely referenced; `putBack` must follow.
    mutating func take(_ number: UInt64) -> Value? {
        guard let index = index(of: number) else { return nil }
        return slots[index].value.take()
    }

    /// Puts a value back that was taken out, changed or not.
    mutating func putBack(_ value: consuming Value, _ number: UInt64) {
        guard let index = index(of: number) else { return }
        slots[index].value = value
    }

    subscript(number: UInt64) -> Value? {
        guard let index = index(of: number) else { return nil }
        return slots[index].value
    }

    /// The numbers of the values that a condition holds for; looks at all of them.
    func numbers(where isWanted: (Value) -> Bool) -> [UInt64] {
        slots.indices.compactMap { index in
            guard let value = slots[index].value, isWanted(value) else { return nil }
            return UInt64(slots[index].generation) << 32 | UInt64(index)
        }
    }

    private func index(of number: UInt64) -> Int? {
        let index = Int(truncatingIfNeeded: number & 0xFFFF_FFFF)
        guard index < slots.count, slots[index].generation == UInt32(truncatingIfNeeded: number >> 32) else {
            return nil
        }
        return index
    }
}
