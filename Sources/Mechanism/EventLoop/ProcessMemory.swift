import CLinux

/// How this process deals with the system's memory.
public enum ProcessMemory {
    private static let largeBlockBytes: Int32 = 1 << 20
    private static let freeBytesMaximum: Int32 = 2 << 20

    /// Lets blocks of a megabyte or more go back to the system as soon as they are freed.
    ///
    /// Left alone, glibc takes the first large block that is freed for a usual one, has such blocks in its heaps from
    /// then on, and keeps what they took: ten messages of 4 MiB are 50 MiB for good. To be called once, at the start.
    public static func returnLargeBlocks() { clinux_return_large_blocks(largeBlockBytes, freeBytesMaximum) }
}
