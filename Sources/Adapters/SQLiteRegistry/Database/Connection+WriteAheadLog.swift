import CSQLite
import PushCore

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
