public import CPrefetch

/// Asks for memory before it is needed.
public enum Prefetch {
    /// Asks for the cache line of an address, and does not wait for it.
    ///
    /// Reading an address makes the processor keep all that follows until the memory has answered, so that no more than
    /// a dozen reads are under way at the same time; this it forgets at once. The address may be anything.
    ///
    /// - Parameter address: what will be read soon.
    @inlinable @inline(__always)
    public static func line(of address: UnsafeRawPointer) { apus_prefetch(address) }
}
