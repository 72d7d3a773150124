import CPostgres
import Glibc

extension PostgresConnection {
    /// Waits until the server passes on a notification to this session (PostgreSQL, "LISTEN"), or a time is over.
    ///
    /// A notification that came with an earlier answer ends the wait at once. A pooler's shared session gets no
    /// notification, so the wait takes the whole time.
    ///
    /// - Parameter milliseconds: how long to wait.
    /// - Throws: the failure if the connection is lost meanwhile.
    public func waitForNotification(milliseconds: Int) throws(Failure) {
        guard handle != nil else { return Self.pause(milliseconds) }
        if takeNotifications() { return }
        var descriptor = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
        guard poll(&descriptor, 1, Int32(clamping: milliseconds)) > 0 else { return }
        guard PQconsumeInput(handle) == 1, PQstatus(handle) == CONNECTION_OK else { throw lost() }
        _ = takeNotifications()
    }

    private func takeNotifications() -> Bool {
        var isNotified = false
        while let notification = PQnotifies(handle) {
            PQfreemem(notification)
            isNotified = true
        }
        return isNotified
    }

    private static func pause(_ milliseconds: Int) { _ = poll(nil, 0, Int32(clamping: milliseconds)) }
}
