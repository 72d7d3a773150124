/// Large buffers that the connections of one loop lend each other: each needs one only while it reads or writes.
///
/// A few are kept, so that no tick has to ask the allocator. Lives on its loop.
public final class LoopBuffers {
    /// How large each buffer is: four TLS records at their largest, and room for one more frame of HTTP/2.
    public static let bytes = 84 * 1_024
    /// How many unused buffers are kept.
    static let keptMaximum = 4

    private var kept: [UnsafeMutableRawBufferPointer] = []

    init() {}

    deinit { for buffer in kept { buffer.deallocate() } }

    /// Lends a buffer, whose content is not defined.
    public func take() -> UnsafeMutableRawBufferPointer {
        kept.popLast() ?? .allocate(byteCount: Self.bytes, alignment: 16)
    }

    /// Takes a buffer back that was lent.
    public func giveBack(_ buffer: UnsafeMutableRawBufferPointer) {
        guard kept.count < Self.keptMaximum else { return buffer.deallocate() }
        kept.append(buffer)
    }
}
