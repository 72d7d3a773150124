import Glibc

/// The attributes that show a changed or replaced file without reading it.
///
/// Deployments replace a file by a rename or by a symbolic link, which changes the inode. An editor that writes in
/// place changes the time, and mostly the size.
public struct FileSignature: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64
    private let sizeBytes: Int64
    private let modifiedSeconds: Int
    private let modifiedNanoseconds: Int

    /// Looks at a file; the result is nil if there is none.
    public init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        sizeBytes = Int64(status.st_size)
        modifiedSeconds = status.st_mtim.tv_sec
        modifiedNanoseconds = status.st_mtim.tv_nsec
    }
}
