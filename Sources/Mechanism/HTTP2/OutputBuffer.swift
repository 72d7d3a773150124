/// The bytes that a connection has produced and the socket has not taken yet.
struct OutputBuffer: ~Copyable {
    /// At this fill the buffer is written before more is produced.
    private static let fullBytes = 64 * 1_024
    /// Room beyond that for the frame that crosses the mark (16 KiB and its header, RFC 9113 section 4.2).
    private static let slackBytes = 20 * 1_024

    private var storage: UnsafeMutableRawPointer
    private var capacity: Int
    private var start = 0
    private var end = 0

    init() {
        capacity = Self.fullBytes + Self.slackBytes
        storage = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit { storage.deallocate() }

    /// Whether the buffer should be written before more is added.
    var isFull: Bool { end - start >= Self.fullBytes }
    var isEmpty: Bool { start == end }

    /// The bytes to write next; valid until the next change.
    var unwritten: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: storage + start, count: end - start) }

    mutating func append(_ bytes: UnsafeRawPointer, count: Int) {
        if capacity - end < count { makeRoom(count) }
        (storage + end).copyMemory(from: bytes, byteCount: count)
        end += count
    }

    mutating func removeFirst(_ count: Int) {
        start += count
        if start == end {
            start = 0
            end = 0
        }
    }

    private mutating func makeRoom(_ count: Int) {
        let used = end - start
        if capacity - used >= count {
            storage.copyMemory(from: storage + start, byteCount: used)
        } else {
            capacity = max(2 * capacity, used + count)
            let grown = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
            grown.copyMemory(from: storage + start, byteCount: used)
            storage.deallocate()
            storage = grown
        }
        start = 0
        end = used
    }
}
