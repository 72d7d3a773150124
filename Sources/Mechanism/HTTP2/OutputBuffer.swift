import EventLoop

/// The bytes that a connection has produced and the socket has not taken yet.
///
/// Its memory is borrowed from the loop, and given back when the socket has taken everything.
struct OutputBuffer: ~Copyable {
    /// At this fill the buffer is written before more is produced.
    ///
    /// Beyond it a borrowed buffer has room for the frame that crosses the mark (16 KiB and its header, RFC 9113
    /// section 4.2).
    static let fullBytes = 64 * 1_024

    private let buffers: LoopBuffers
    /// Borrowed, or larger and its own; empty if there are no bytes.
    private var storage = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var start = 0
    private var end = 0

    init(_ buffers: LoopBuffers) { self.buffers = buffers }

    // Not given back: the end of a connection need not be on the loop.
    deinit { storage.deallocate() }

    /// Whether the buffer should be written before more is added.
    var isFull: Bool { end - start >= Self.fullBytes }
    var isEmpty: Bool { start == end }

    /// The bytes to write next; valid until the next change.
    var unwritten: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: storage[start..<end]) }

    mutating func append(_ bytes: UnsafeRawPointer, count: Int) {
        if storage.count - end < count { makeRoom(count) }
        guard let base = storage.baseAddress else { return }
        (base + end).copyMemory(from: bytes, byteCount: count)
        end += count
    }

    mutating func removeFirst(_ count: Int) {
        start += count
        guard start == end else { return }
        start = 0
        end = 0
        if storage.count == LoopBuffers.bytes { buffers.giveBack(storage) } else { storage.deallocate() }
        storage = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }

    private mutating func makeRoom(_ count: Int) {
        let used = end - start
        if storage.count - used >= count {
            storage.copyMemory(from: UnsafeRawBufferPointer(rebasing: storage[start..<end]))
        } else {
            let isBorrowed = storage.isEmpty && count <= LoopBuffers.bytes
            let larger =
                isBorrowed
                ? buffers.take() : .allocate(byteCount: max(2 * storage.count, used + count), alignment: 16)
            larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: storage[start..<end]))
            storage.deallocate()
            storage = larger
        }
        start = 0
        end = used
    }
}
