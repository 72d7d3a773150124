import CLinux

/// How this process deals with the system's memory.
public enum ProcessMemory {
    private static let largeBlockBytes: Int32 = 1 << 20
    private static let freeBytesMaximum: Int32 = 2 << 20

    /// Lets blocks of a megabyte or more go back to the system as soon as they are freed.
    ///
    /// By default, glibc adapts to the first large block that is freed: it then puts such blocks into its heaps and
    /// keeps their memory. Ten messages of 4 MiB would take 50 MiB permanently. Call this once, at the start.
    public static func returnLargeBlocks() { clinux_return_large_blocks(largeBlockBytes, freeBytesMaximum) }
}
