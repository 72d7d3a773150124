import CPostgres
import Glibc

extension PostgresConnection {
    /// How long a connection to a standby is kept, in milliseconds; the name may soon lead to the primary again.
    private static var standbyAgeMilliseconds: Int { 30_000 }
    /// The oldest version of PostgreSQL whose functions our statements use.
    private static var oldestVersion: Int { 13 }

    /// Makes sure that there is a connection, as far as can be told without asking the server.
    ///
    /// A connection that the server ended since the last call is noticed and made again.
    public func ensureOpen() throws(Failure) {
        if let session, isStillOpen() {
            if session.isExpired, !isAwaiting, !isInTransaction { replace(session) }
            return
        }
        close()
        try connect()
    }

    /// Reads unsolicited messages of the server, for example that it ends the connection.
    ///
    /// Whether the connection can be used: one with a failed transaction cannot, because no call would end that.
    private func isStillOpen() -> Bool {
        var descriptor = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
        while PQstatus(handle) == CONNECTION_OK {
            guard poll(&descriptor, 1, 0) > 0 else { return PQtransactionStatus(handle) != PQTRANS_INERROR }
            guard PQconsumeInput(handle) == 1 else { return false }
            _ = PQisBusy(handle)
        }
        return false
    }

    /// Makes another connection in place of one that has reached its age, which goes on if none can be made.
    private func replace(_ old: ServerSession) {
        session = nil
        do throws(Failure) {
            try connect()
        } catch {
            session = old
            old.expire(afterMilliseconds: ageMilliseconds)
        }
    }

    private func connect() throws(Failure) {
        do throws(Failure) {
            try open(Deadline(milliseconds: connectMilliseconds))
            try requireServer()
            try agreeOnSettings(Deadline(milliseconds: callMilliseconds))
            try setUp(self)
        } catch {
            close()
            throw error
        }
    }

    /// Tries the servers in order; each has its share of the time.
    private func open(_ deadline: Deadline) throws(Failure) {
        failureState = ""
        let candidates = address.candidates
        var reasons: [String] = []
        for (index, options) in candidates.enumerated() {
            let share = deadline.share(of: candidates.count - index)
            lostReason = ""
            do throws(Failure) {
                try open(options, share)
                return try meet(ServerAddress.hostAndPort(options), share)
            } catch {
                guard candidates.count > 1 else { throw error }
                let reason = lostReason.isEmpty ? error.message : lostReason
                reasons.append(
                    share.remainingMilliseconds > 0
                        ? reason
                        : "\(ServerAddress.hostAndPort(options)) did not answer within \(share.milliseconds) ms")
            }
        }
        throw Failure.unreachable(address.description, String(reasons.joined(separator: "; ").prefix(600)))
    }

    private func open(_ options: [ServerAddress.Option], _ deadline: Deadline) throws(Failure) {
        var keywords = options.map { UnsafePointer<CChar>(strdup($0.keyword)) } + [nil]
        var values = options.map { UnsafePointer<CChar>(strdup($0.value)) } + [nil]
        defer { for pointer in keywords + values { free(UnsafeMutablePointer(mutating: pointer)) } }
        guard let handle = PQconnectStartParams(&keywords, &values, 0) else {
            throw Failure.unreachable(address.description, "out of memory")
        }
        session = ServerSession(handle)
        // Without a receiver of ours libpq prints the server's notices.
        PQsetNoticeReceiver(handle, { _, _ in }, nil)
        var state = PGRES_POLLING_WRITING
        if PQstatus(handle) == CONNECTION_BAD { state = PGRES_POLLING_FAILED }
        while state != PGRES_POLLING_OK {
            if state == PGRES_POLLING_FAILED { throw lost() }
            try wait(for: state == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline)
            state = PQconnectPoll(handle)
        }
        PQsetnonblocking(handle, 1)
    }

    // MARK: The server, and what is before it

    /// Asks the server who it is; one that cannot be written is refused if we are to write.
    ///
    /// libpq's own question (`target_session_attrs`) is not used unless the URL has it, because a pooler answers that
    /// one from memory.
    private func meet(_ server: String, _ deadline: Deadline) throws(Failure) {
        let question = Call(
            """
            SELECT pg_backend_pid()::bigint, pg_is_in_recovery()::int,
                (current_setting('transaction_read_only') = 'on')::int
            """)
        let answer = try run([question], deadline)[0]
        let isStandby = answer.integer(0, 1) == 1
        if isForWriting, !address.choosesServer, answer.integer(0, 2) == 1 {
            let reason = isStandby ? "is a standby" : "takes no writes (default_transaction_read_only is on)"
            refuse("\(server) \(reason)")
            throw Failure.onlyReadable(address.description, lostReason)
        }
        // A pooler gives each client a number of its own, by which it finds what the client wants cancelled.
        session?.isShared = answer.integer(0, 0) != Int64(PQbackendPID(handle))
        session?.expire(
            afterMilliseconds: isStandby ? min(Self.standbyAgeMilliseconds, ageMilliseconds) : ageMilliseconds)
    }

    private func requireServer() throws(Failure) {
        let version = Int(PQserverVersion(handle)) / 10_000
        guard version >= Self.oldestVersion else {
            throw Failure.tooOld(address.description, oldestVersion: Self.oldestVersion)
        }
        let encoding = PQparameterStatus(handle, "server_encoding").map { String(cString: $0) } ?? ""
        guard encoding == "UTF8" else { throw Failure.wrongEncoding(address.description, encoding) }
    }

    /// Tells a session of our own our settings, and finds out what a pooler keeps.
    private func agreeOnSettings(_ deadline: Deadline) throws(Failure) {
        guard let session else { return }
        guard session.isShared else {
            session.keepsStatements = true
            return settings.ofSession.isEmpty ? () : try execute(settings.ofSession, deadline)
        }
        let keepsStatements = try findKeptStatements(session, deadline)
        session.keepsStatements = keepsStatements && !distrustsKeptStatements
        session.transactionSettings = settings.ofTransaction
    }

    /// Whether the pooler keeps prepared statements, as PgBouncer does from 1.21 on with `max_prepared_statements`.
    ///
    /// One that does gives them names of its own, because two clients may use the same name. Any other passes ours on
    /// to the session that it lends for the moment, which gets rid of the statement here.
    private func findKeptStatements(_ session: ServerSession, _ deadline: Deadline) throws(Failure) -> Bool {
        do throws(Failure) {
            try execute("BEGIN", deadline)
        } catch {
            guard error.message.contains("statement pooling mode") else { throw error }
            throw Failure.poolsStatements(address.description)
        }
        let text = "SELECT name FROM pg_catalog.pg_prepared_statements WHERE statement = $1::text"
        session.keepsStatements = true
        let kept = try run([Call(text, [.text(text)])], deadline)[0]
        let names = kept.map { kept.text($0.number, 0) }
        session.keepsStatements = false
        guard let own = session.preparedNames.removeValue(forKey: text), names.contains(own) else {
            try execute("COMMIT", deadline)
            return !names.isEmpty
        }
        try execute("DEALLOCATE \(own); COMMIT", deadline)
        return false
    }
}
