import CSQLite
import Glibc
import RegistryCore

extension RegistryError {
    /// Turns a result code of SQLite into an error that says what to do.
    ///
    /// - Parameters:
    ///   - sqliteResult: the result code, extended or not.
    ///   - systemError: the `errno` that came with it, or 0.
    ///   - detail: SQLite's own message, if the connection still has one.
    ///   - path: the file.
    init(sqliteResult: Int32, systemError: Int32, detail: String?, path: String) {
        let reason = detail ?? String(cString: sqlite3_errstr(sqliteResult))
        switch sqliteResult & 0xff {
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL:
            self.init(
                .unavailable,
                "The registry \(path) is locked by another process for longer than the time we wait (\(reason)). "
                    + "End a long import or an open transaction of another program, or try again later.")
        case SQLITE_READONLY, SQLITE_PERM:
            self.init(
                .readOnly,
                "The registry \(path) cannot be written (\(reason)). "
                    + "Give this user the right to write the file, its folder and the files beside it whose names end "
                    + "in -wal and -shm.")
        case SQLITE_FULL:
            self.init(
                .readOnly,
                "The disk of the registry \(path) is full (\(reason)). Free some space; nothing was half written.")
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT:
            self.init(.corrupt, Self.corruptMessage(path: path, reason: reason))
        case SQLITE_CANTOPEN, SQLITE_AUTH:
            self.init(.unavailable, Self.cannotOpenMessage(path: path, reason: reason, systemError: systemError))
        case SQLITE_IOERR, SQLITE_NOMEM, SQLITE_INTERRUPT, SQLITE_NOLFS:
            self.init(
                .unavailable,
                "The registry \(path) could not be read or written (\(reason)\(Self.text(systemError))). "
                    + "Look at the disk and the system's log; the call may succeed later.")
        default:
            self.init(.failed, "The registry \(path) failed: \(reason) (SQLite result \(sqliteResult)).")
        }
    }

    /// The message about a file that is damaged or never was a registry.
    static func corruptMessage(path: String, reason: String) -> String {
        "The registry \(path) is damaged or is no SQLite database (\(reason)). Stop what uses it, check it with "
            + "sqlite3 \(path) 'PRAGMA integrity_check', and restore a backup or save what is left with "
            + "sqlite3 \(path) .recover into a new file."
    }

    private static func cannotOpenMessage(path: String, reason: String, systemError: Int32) -> String {
        "The registry \(path) cannot be opened (\(reason)\(text(systemError))). "
            + "Check that the path is right, that its folder exists and may be entered, and that this user may read "
            + "and write the file; 'apus run' makes a new one."
    }

    private static func text(_ systemError: Int32) -> String {
        systemError == 0 ? "" : ": \(String(cString: strerror(systemError)))"
    }
}
