import CSQLite
import PushCore

/// One connection to an SQLite file; its errors tell the file, what was wrong and what to do.
///
/// Opened without SQLite's own mutex (`SQLITE_OPEN_NOMUTEX`): a registry is used by one thread at a time, so the lock
/// would only cost time.
final class Connection {
    let path: String
    let handle: OpaquePointer

    /// Opens the file.
    ///
    /// - Throws: `RegistryError` with `.unavailable` if the file or its folder is missing, `.readOnly` if the mode asks
    ///   to write and that is not allowed.
    init(path: String, mode: RegistryOpenMode, busyTimeoutMilliseconds: Int32) throws(RegistryError) {
        var opened: OpaquePointer?
        var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        switch mode {
        case .readOnly: flags |= SQLITE_OPEN_READONLY
        case .existing, .readWrite: flags |= SQLITE_OPEN_READWRITE
        case .create: flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        }
        let result = sqlite3_open_v2(path, &opened, flags, nil)
        guard result == SQLITE_OK, let opened else {
            let systemError = opened.map { sqlite3_system_errno($0) } ?? 0
            sqlite3_close_v2(opened)
            throw RegistryError(sqliteResult: result, systemError: systemError, detail: nil, path: path)
        }
        self.path = path
        self.handle = opened
        sqlite3_busy_timeout(opened, busyTimeoutMilliseconds)
        if mode != .readOnly, sqlite3_db_readonly(opened, "main") == 1 {
            throw RegistryError(sqliteResult: SQLITE_READONLY, systemError: 0, detail: nil, path: path)
        }
    }

    deinit {
        // The "v2" form waits for statements that are still alive, so the order of release does not matter.
        sqlite3_close_v2(handle)
    }

    /// Rows that the last statement changed.
    var changedRows: Int { Int(sqlite3_changes64(handle)) }

    /// The key of the row that was inserted last.
    var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }

    /// Whether a transaction is open.
    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Runs statements that answer nothing.
    func execute(_ sql: String) throws(RegistryError) {
        let result = sqlite3_exec(handle, sql, nil, nil, nil)
        guard result == SQLITE_OK else { throw error(result) }
    }

    /// Describes the failure that the last call reported.
    func error(_ result: Int32) -> RegistryError {
        RegistryError(
            sqliteResult: result, systemError: sqlite3_system_errno(handle),
            detail: String(cString: sqlite3_errmsg(handle)), path: path)
    }
}
