public import CPrefetch
internal import Glibc

/// Asks for memory before it is needed.
public enum Prefetch {
    /// Requests the cache line of an address, without waiting for it.
    ///
    /// A read blocks the processor's later instructions until the memory has answered, so at most a dozen reads are
    /// under way at a time; a prefetch does not block. The address may be anything.
    ///
    /// - Parameter address: the address that will be read soon.
    @inlinable @inline(__always)
    public static func line(of address: UnsafeRawPointer) { apus_prefetch(address) }
}

/// Memory that the processor finds with a single entry of its table of pages.
public enum HugePage {
    /// The size of a huge page of x86-64, and of other processors whose pages have 4 KiB.
    public static let byteCount = 1 << 21

    /// Takes a huge page, all zero, at a multiple of its size.
    ///
    /// Linux may refuse a huge page (`transparent_hugepage/enabled` is `never`, or memory is scattered); small pages
    /// then serve as well, only slower.
    ///
    /// - Returns: the page; nil if there is no memory.
    public static func take() -> UnsafeMutableRawPointer? {
        // Twice as much has a huge page in it, wherever it begins; the rest is given back.
        let memory = mmap(nil, 2 * byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let memory, Int(bitPattern: memory) != -1 else { return nil }
        let before = (byteCount - Int(bitPattern: memory) & (byteCount - 1)) & (byteCount - 1)
        if before > 0 { munmap(memory, before) }
        let page = memory + before
        munmap(page + byteCount, byteCount - before)
        _ = madvise(page, byteCount, MADV_HUGEPAGE)
        return page
    }

    /// Gives a page back.
    ///
    /// - Parameter address: where `take` put it.
    public static func give(at address: UInt) {
        if let page = UnsafeMutableRawPointer(bitPattern: address) { munmap(page, byteCount) }
    }
}
