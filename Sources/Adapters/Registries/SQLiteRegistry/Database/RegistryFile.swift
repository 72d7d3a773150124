import Glibc
import RegistryCore

/// One of the files of a registry as it was when it was opened: the database, its write-ahead log, or the log's index.
///
/// SQLite continues with a file that was removed or replaced, so writes to it are lost with the last connection. A look
/// at the name costs about a microsecond.
struct RegistryFile {
    /// The permissions of a new registry: its owner's alone, because it holds device tokens and courier secrets.
    private static let mode: mode_t = 0o600
    private static let othersMask: mode_t = 0o077

    private let path: String
    private let device: dev_t
    private let inode: ino_t

    /// Notes what there is under a name; nil if there is nothing.
    init?(path: String) {
        guard let status = Self.status(path) else { return nil }
        self.path = path
        device = status.st_dev
        inode = status.st_ino
    }

    /// The problem if the name does not lead to the noted file any more.
    private var problem: String? {
        guard let status = Self.status(path) else { return "removed" }
        return status.st_dev == device && status.st_ino == inode ? nil : "replaced by another"
    }

    /// Checks that the name still leads to the noted file.
    ///
    /// - Parameter registry: the path of the registry, for the message.
    /// - Throws: `RegistryError` with `.unavailable` if not.
    func requireSame(registry: String) throws(RegistryError) {
        guard let problem else { return }
        throw Self.lost(path, problem, registry: registry)
    }

    /// The error about a file that is not the one that was opened.
    static func lost(_ path: String, _ problem: String, registry: String) -> RegistryError {
        RegistryError(
            .unavailable,
            "The registry \(registry) is in use, and its file \(path) was \(problem) meanwhile. Nothing is read or "
                + "written, because it would be lost. Move the file back, or stop all that use the registry, see that "
                + "the right file is there, and start them again.")
    }

    /// Makes an empty file that only its owner may read and write, with any umask; an existing one is not changed.
    ///
    /// SQLite gives the files beside it the same mode. `mknod` and not `open`, because closing a descriptor would end
    /// the locks that another connection of this process has just taken. SQLite reports errors of this call.
    static func make(path: String) { mknod(path, S_IFREG | mode, 0) }

    /// The permissions of a file, if more than its owner has any; else nil.
    static func looseMode(path: String) -> mode_t? {
        guard let mode = status(path)?.st_mode, mode & othersMask != 0 else { return nil }
        return mode & 0o7777
    }

    /// The target of a path, through all links; the path itself if there is none.
    static func target(of path: String) -> String {
        guard let target = realpath(path, nil) else { return path }
        defer { free(target) }
        return String(cString: target)
    }

    private static func status(_ path: String) -> stat? {
        var status = stat()
        // It is on the way of every look-up: a text that is handed over without this is copied.
        return path.withCString { stat($0, &status) } == 0 ? status : nil
    }
}
