import Glibc
public import RegistryCore

extension SQLiteRegistry {
    /// Copies the registry as it is at one moment into a new file, while others read and write it.
    ///
    /// `VACUUM INTO` reads in one transaction, which the write-ahead log lets others write beside. The copy has no
    /// unused pages, and is checked and on the disk when this returns. A copy that was interrupted never has the name.
    ///
    /// - Parameter path: the new file; its owner alone may read it.
    /// - Returns: the size of the copy in bytes.
    /// - Throws: `RegistryError` with `.invalid` if the file exists, `.readOnly` or `.unavailable` if it cannot be
    ///   written, `.corrupt` if the copy is damaged.
    public func backUp(to path: String) throws(RegistryError) -> Int64 {
        guard access(path, F_OK) != 0 else {
            throw RegistryError(.invalid, "The file \(path) exists. Name another, or move this one away.")
        }
        let partial = path + ".partial"
        unlink(partial)
        RegistryFile.make(path: partial)
        do throws(RegistryError) {
            try connection.requireSameFiles()
            let statement = try Statement("VACUUM INTO ?", connection: connection)
            statement.bind(1, partial)
            try statement.run()
            try Self.check(partial)
            return try Self.finish(partial, as: path)
        } catch {
            unlink(partial)
            throw error
        }
    }

    private static func check(_ path: String) throws(RegistryError) {
        let copy = try Connection(path: path, mode: .readOnly, busyTimeoutMilliseconds: 0)
        let statement = try Statement("PRAGMA integrity_check(1)", connection: copy)
        defer { statement.reset() }
        guard try statement.step(), statement.text(0) == "ok" else {
            throw RegistryError(.corrupt, RegistryError.corruptMessage(path: path, reason: statement.text(0)))
        }
    }

    /// Brings a file and its name to the disk.
    private static func finish(_ partial: String, as path: String) throws(RegistryError) -> Int64 {
        var status = stat()
        let descriptor = Glibc.open(partial, O_RDONLY | O_CLOEXEC)
        defer { if descriptor >= 0 { close(descriptor) } }
        guard descriptor >= 0, fsync(descriptor) == 0, fstat(descriptor, &status) == 0, rename(partial, path) == 0
        else { throw failure(path) }
        var folder = path
        while let last = folder.last, last != "/" { folder.removeLast() }
        let parent = Glibc.open(folder.isEmpty ? "." : folder, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
        defer { if parent >= 0 { close(parent) } }
        guard parent >= 0, fsync(parent) == 0 else { throw failure(path) }
        return Int64(status.st_size)
    }

    private static func failure(_ path: String) -> RegistryError {
        RegistryError(
            .readOnly, "The copy \(path) cannot be written: \(String(cString: strerror(errno))). Nothing of it is left."
        )
    }
}
