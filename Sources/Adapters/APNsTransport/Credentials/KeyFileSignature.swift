internal import Glibc

/// What tells, without reading it, that a file is another one or has been written since.
///
/// Deployments replace a file by renaming another over it, or by turning a symbolic link: that shows as another inode;
/// an editor that writes in place changes the time, and mostly the size.
struct KeyFileSignature: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64
    private let sizeBytes: Int64
    private let modifiedSeconds: Int
    private let modifiedNanoseconds: Int

    /// Looks at a file; the result is nil if there is none.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        sizeBytes = Int64(status.st_size)
        modifiedSeconds = status.st_mtim.tv_sec
        modifiedNanoseconds = status.st_mtim.tv_nsec
    }
}
