import CSQLite
import RegistryCore

/// One connection to an SQLite file; its errors name the file, the problem and the remedy.
///
/// Opened without SQLite's own mutex (`SQLITE_OPEN_NOMUTEX`): a registry is used by one thread at a time, so the lock
/// would only cost time.
final class Connection {
    let path: String
    let handle: OpaquePointer
    private let cacheSizeKibibytes: Int
    private var files: [RegistryFile]

    /// Opens the file.
    ///
    /// - Throws: `RegistryError` with `.unavailable` if the file or its folder is missing, `.readOnly` if the mode asks
    ///   to write and that is not allowed.
    init(
        path: String, mode: RegistryOpenMode, busyTimeoutMilliseconds: Int32, cacheSizeKibibytes: Int = 2_048
    ) throws(RegistryError) {
        if mode == .create { RegistryFile.make(path: path) }
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
        self.cacheSizeKibibytes = max(cacheSizeKibibytes, 64)
        files = [RegistryFile(path: path)].compactMap(\.self)
        var hasMoved: Int32 = 0
        sqlite3_file_control(opened, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
        guard hasMoved == 0, !files.isEmpty else {
            throw RegistryFile.lost(path, "removed or replaced by another", registry: path)
        }
        sqlite3_busy_timeout(opened, busyTimeoutMilliseconds)
        if mode != .readOnly, sqlite3_db_readonly(opened, "main") == 1 {
            throw RegistryError(sqliteResult: SQLITE_READONLY, systemError: 0, detail: nil, path: path)
        }
    }

    deinit {
        // The "v2" form waits for statements that are still alive, so the order of release does not matter.
        sqlite3_close_v2(handle)
    }

    /// The files of a registry: the database, its write-ahead log and the index of that.
    ///
    /// If the path is a link, SQLite has the other files beside the link's target.
    static func files(of path: String) -> [String] {
        let target = RegistryFile.target(of: path)
        return [path, target + "-wal", target + "-shm"]
    }

    /// Notes the files beside the database as they are; called when all are open.
    ///
    /// SQLite replaces none of them as long as they are. The database was noted when it was opened.
    func noteFiles() {
        files = files.prefix(1) + Self.files(of: path).dropFirst().compactMap { RegistryFile(path: $0) }
    }

    /// Makes sure that the files have still their names.
    ///
    /// - Throws: `RegistryError` with `.unavailable` if one was removed or replaced.
    func requireSameFiles() throws(RegistryError) {
        for file in files { try file.requireSame(registry: path) }
    }

    /// Sets the page cache to the size given at opening.
    func setCacheSize() throws(RegistryError) { try execute("PRAGMA cache_size = -\(cacheSizeKibibytes)") }

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

extension Connection {
    /// Sets the journal mode, which lasts in the file, to the write-ahead log.
    ///
    /// SQLite does not always call its busy handler for this switch, so two processes that make the file at the same
    /// moment would see an error; we ask again until the time is over.
    func switchToWriteAheadLog(waitingMilliseconds: Int) throws(RegistryError) {
        var waitedMilliseconds = 0
        while true {
            do throws(RegistryError) {
                let statement = try Statement("PRAGMA journal_mode = WAL", connection: self)
                defer { statement.reset() }
                guard try statement.step(), statement.text(0) == "wal" else {
                    throw RegistryError(
                        .failed,
                        "The registry \(path) cannot keep a write-ahead log: its file system lacks shared memory. "
                            + "Put it on a local disk.")
                }
                return
            } catch {
                guard error.code == .unavailable, waitedMilliseconds < waitingMilliseconds else { throw error }
                sqlite3_sleep(10)
                waitedMilliseconds += 10
            }
        }
    }
}
