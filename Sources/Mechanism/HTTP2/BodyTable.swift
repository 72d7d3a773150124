/// The bodies that are being sent, in slots that are used again and again.
struct BodyTable {
    private struct Slot {
        var bytes: [UInt8] = []
        var offset = 0
        /// Whether the bytes come again and again, without an end.
        var isEndless = false
        /// Whether the slot made the array itself, so that its memory can serve the next body.
        var isOwnArray = false
    }

    /// A slot keeps its own array for the next body up to this size.
    private static let keptCapacityMaximum = 16 * 1_024

    private var slots: [Slot] = []
    private var freeSlots: [Int32] = []
    /// How many bytes of all bodies have not been sent.
    private(set) var unsentBytes = 0
    /// Whether no body is kept.
    var isEmpty: Bool { slots.count == freeSlots.count }

    /// Keeps a body, without copying it, until it has been sent.
    mutating func insert(_ bytes: [UInt8]) -> Int32 {
        let index = takeSlot()
        slots[Int(index)].bytes = bytes
        slots[Int(index)].isOwnArray = false
        unsentBytes += bytes.count
        return index
    }

    /// Copies a body and keeps the copy until it has been sent.
    mutating func insert(copying bytes: UnsafeRawBufferPointer) -> Int32 {
        let index = takeSlot()
        if !slots[Int(index)].isOwnArray { slots[Int(index)].bytes = [] }
        slots[Int(index)].bytes.append(contentsOf: bytes)
        slots[Int(index)].isOwnArray = true
        unsentBytes += bytes.count
        return index
    }

    /// Keeps a body that consists of these bytes, again and again, until its stream ends.
    mutating func insert(repeating bytes: [UInt8]) -> Int32 {
        let index = takeSlot()
        slots[Int(index)].bytes = bytes
        slots[Int(index)].isOwnArray = false
        slots[Int(index)].isEndless = true
        return index
    }

    func isEndless(_ index: Int32) -> Bool { slots[Int(index)].isEndless }

    func unsentCount(_ index: Int32) -> Int { slots[Int(index)].bytes.count - slots[Int(index)].offset }

    /// Lends the next `count` unsent bytes and counts them as sent.
    mutating func send(_ index: Int32, count: Int, to body: (UnsafeRawPointer) -> Void) {
        let offset = slots[Int(index)].offset
        slots[Int(index)].bytes.withUnsafeBytes { bytes in
            precondition(count <= bytes.count - offset, "nghttp2 asks for no more than it was promised")
            if let start = bytes.baseAddress { body(start + offset) }
        }
        guard !slots[Int(index)].isEndless else { return }
        slots[Int(index)].offset = offset + count
        unsentBytes -= count
    }

    mutating func remove(_ index: Int32) {
        if !slots[Int(index)].isEndless { unsentBytes -= unsentCount(index) }
        slots[Int(index)].isEndless = false
        let isKept = slots[Int(index)].isOwnArray && slots[Int(index)].bytes.capacity <= Self.keptCapacityMaximum
        if isKept {
            slots[Int(index)].bytes.removeAll(keepingCapacity: true)
        } else {
            slots[Int(index)].bytes = []
        }
        slots[Int(index)].offset = 0
        freeSlots.append(index)
    }

    private mutating func takeSlot() -> Int32 {
        if let index = freeSlots.popLast() { return index }
        slots.append(Slot())
        return Int32(slots.count - 1)
    }
}
