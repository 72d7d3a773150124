/// Values under numbers that are given out again after use, each time with a new generation.
///
/// Looking one up is an array access, and in steady state nothing is allocated. A number whose value was removed finds
/// nothing, even if its slot has another value by now.
struct SlotTable<Value: Sendable>: Sendable {
    private struct Slot {
        var generation: UInt32 = 0
        var value: Value?
    }

    private var slots: [Slot] = []
    private var free: [Int] = []

    /// How many values there are.
    var count: Int { slots.count - free.count }

    /// Puts a value in.
    ///
    /// - Parameter value: makes the value, which may have to know its number.
    /// - Returns: its number.
    mutating func insert(_ value: (UInt64) -> Value) -> UInt64 {
        guard let index = free.popLast() else {
            let number = UInt64(slots.count)
            slots.append(Slot(value: value(number)))
            return number
        }
        let number = number(of: index)
        slots[index].value = value(number)
        return number
    }

    /// Takes out a value that is there.
    @discardableResult
    mutating func remove(_ number: UInt64) -> Value {
        guard let index = index(of: number), let value = slots[index].value.take() else { Self.fail(number) }
        slots[index].generation &+= 1
        free.append(index)
        return value
    }

    /// Changes a value that is there, in place: arrays inside stay uniquely referenced.
    ///
    /// - Parameters:
    ///   - number: its number.
    ///   - body: changes it; must not look the same number up.
    /// - Returns: the result of `body`.
    mutating func modify<Result>(_ number: UInt64, _ body: (inout Value) throws -> Result) rethrows -> Result {
        guard let index = index(of: number), var value = slots[index].value.take() else { Self.fail(number) }
        let result: Result
        do {
            result = try body(&value)
        } catch {
            slots[index].value = consume value
            throw error
        }
        slots[index].value = consume value
        return result
    }

    /// A copy of a value; nil if there is none under the number.
    subscript(number: UInt64) -> Value? {
        guard let index = index(of: number) else { return nil }
        return slots[index].value
    }

    /// Calls a closure with each value and its number.
    func forEach(_ body: (UInt64, Value) -> Void) {
        for index in slots.indices {
            if let value = slots[index].value { body(number(of: index), value) }
        }
    }

    /// The numbers of the values that a condition holds for; looks at all of them.
    func numbers(where isWanted: (Value) -> Bool) -> [UInt64] {
        slots.indices.compactMap { index in
            guard let value = slots[index].value, isWanted(value) else { return nil }
            return number(of: index)
        }
    }

    private func number(of index: Int) -> UInt64 { UInt64(slots[index].generation) << 32 | UInt64(index) }

    private func index(of number: UInt64) -> Int? {
        let index = Int(truncatingIfNeeded: number & 0xFFFF_FFFF)
        guard index < slots.count, slots[index].generation == UInt32(truncatingIfNeeded: number >> 32) else {
            return nil
        }
        return index
    }

    private static func fail(_ number: UInt64) -> Never {
        preconditionFailure("number \(number) has no value: it was removed, or is being changed already")
    }
}
