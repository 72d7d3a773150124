import CNghttp2
import Glibc

/// The memory of one nghttp2 session: blocks that were given back are given out again, without the allocator's work.
///
/// nghttp2 allocates half a dozen blocks of the same few sizes for every request and frees them with its answer.
/// Kept blocks are bounded, and everything stays on the session's loop. The session must be deleted before this is.
///
/// The largest block, for the header fields of a frame, is nearly always empty but for its beginning. It has pages of
/// its own, so that the rest takes no memory.
final class SessionMemory {
    /// Before each block stands the number of its size, in as many bytes as keep the block aligned.
    private static let prefixBytes = 16
    /// The sizes of blocks, prefix included, are powers of two from this one.
    private static let smallestBytes = 64
    private static let sizeCount = 6
    /// The number of a block that is too large to be kept; its length stands behind the number.
    private static let unkept = sizeCount
    /// The same of one with pages of its own.
    private static let mapped = sizeCount + 1
    private static let mappedBytesMinimum = 16 * 1_024
    private static let keptMaximum = 512

    /// For each size, the block that was given back last; each says in its first bytes which was given back before it.
    private let latest = UnsafeMutablePointer<UnsafeMutableRawPointer?>.allocate(capacity: SessionMemory.sizeCount)
    private let keptCounts = UnsafeMutablePointer<Int>.allocate(capacity: SessionMemory.sizeCount)

    init() {
        latest.initialize(repeating: nil, count: Self.sizeCount)
        keptCounts.initialize(repeating: 0, count: Self.sizeCount)
    }

    deinit {
        releaseKept()
        latest.deallocate()
        keptCounts.deallocate()
    }

    /// The functions for nghttp2; valid for as long as this object lives.
    var functions: nghttp2_mem {
        nghttp2_mem(
            mem_user_data: Unmanaged.passUnretained(self).toOpaque(),
            malloc: { bytes, memory in SessionMemory.with(memory) { $0.allocate(bytes) } },
            free: { block, memory in SessionMemory.with(memory) { $0.free(block) } },
            calloc: { count, bytes, memory in SessionMemory.with(memory) { $0.allocateZeroed(count, bytes) } },
            realloc: { block, bytes, memory in SessionMemory.with(memory) { $0.reallocate(block, bytes) } })
    }

    private static func with<Result>(_ memory: UnsafeMutableRawPointer?, _ body: (SessionMemory) -> Result) -> Result {
        guard let memory else { preconditionFailure("nghttp2 hands back what it was given") }
        return Unmanaged<SessionMemory>.fromOpaque(memory)._withUnsafeGuaranteedRef(body)
    }

    /// Frees the blocks that were given back.
    func releaseKept() {
        for size in 0..<Self.sizeCount {
            while let block = takeKept(size) { Glibc.free(block) }
        }
    }

    private static func size(of bytes: Int) -> Int {
        let total = bytes + prefixBytes
        guard total > smallestBytes else { return 0 }
        return min(unkept, Int.bitWidth - (total - 1).leadingZeroBitCount - smallestBytes.trailingZeroBitCount)
    }

    /// The bytes that a block has for its user.
    private static func room(_ size: Int) -> Int { smallestBytes << size - prefixBytes }

    private func takeKept(_ size: Int) -> UnsafeMutableRawPointer? {
        guard let start = latest[size] else { return nil }
        latest[size] = start.load(fromByteOffset: Self.prefixBytes, as: UnsafeMutableRawPointer?.self)
        keptCounts[size] -= 1
        return start
    }

    private func allocate(_ bytes: Int) -> UnsafeMutableRawPointer? {
        let size = Self.size(of: bytes)
        guard size < Self.unkept else { return Self.allocateUnkept(bytes) }
        guard let start = takeKept(size) ?? Glibc.malloc(Self.smallestBytes << size) else { return nil }
        start.storeBytes(of: size, as: Int.self)
        return start + Self.prefixBytes
    }

    private static func allocateUnkept(_ bytes: Int) -> UnsafeMutableRawPointer? {
        let total = bytes + prefixBytes
        let isMapped = total >= mappedBytesMinimum
        let allocated =
            isMapped
            ? mmap(nil, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : Glibc.malloc(total)
        guard let start = allocated, start != MAP_FAILED else { return nil }
        start.storeBytes(of: isMapped ? mapped : unkept, as: Int.self)
        start.storeBytes(of: total, toByteOffset: MemoryLayout<Int>.stride, as: Int.self)
        return start + prefixBytes
    }

    /// The length of a block that is not kept, prefix included.
    private static func unkeptBytes(_ start: UnsafeMutableRawPointer) -> Int {
        start.load(fromByteOffset: MemoryLayout<Int>.stride, as: Int.self)
    }

    private static func freeUnkept(_ start: UnsafeMutableRawPointer, _ size: Int) {
        if size == mapped { munmap(start, unkeptBytes(start)) } else { Glibc.free(start) }
    }

    private func allocateZeroed(_ count: Int, _ bytes: Int) -> UnsafeMutableRawPointer? {
        let (total, isTooLarge) = count.multipliedReportingOverflow(by: bytes)
        guard !isTooLarge, let block = allocate(total) else { return nil }
        memset(block, 0, total)
        return block
    }

    private func free(_ block: UnsafeMutableRawPointer?) {
        guard let block else { return }
        let start = block - Self.prefixBytes
        let size = start.load(as: Int.self)
        guard size < Self.unkept, keptCounts[size] < Self.keptMaximum else { return Self.freeUnkept(start, size) }
        block.storeBytes(of: latest[size], as: UnsafeMutableRawPointer?.self)
        latest[size] = start
        keptCounts[size] += 1
    }

    private func reallocate(_ block: UnsafeMutableRawPointer?, _ bytes: Int) -> UnsafeMutableRawPointer? {
        guard let block else { return allocate(bytes) }
        let start = block - Self.prefixBytes
        let size = start.load(as: Int.self)
        let room = size < Self.unkept ? Self.room(size) : Self.unkeptBytes(start) - Self.prefixBytes
        if bytes <= room { return block }
        guard let larger = allocate(bytes) else { return nil }
        memcpy(larger, block, room)
        free(block)
        return larger
    }
}
