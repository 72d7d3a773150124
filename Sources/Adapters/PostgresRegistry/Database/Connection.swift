import CPostgres
import Glibc
import PushCore

/// One connection to the server, which is made again when it was lost.
///
/// libpq is used in its non-blocking form: this type waits itself, with `poll` and a deadline, so no call blocks longer
/// than its deadline. The one exception is the look-up of the host's name, whose time the system's resolver bounds.
/// Several statements are sent at once (PostgreSQL, "Pipeline Mode"), so a call costs one round trip, not one each.
final class Connection {
    /// Where the server is.
    let address: Address
    /// Runs on each new connection before its first use.
    private let setUp: (Connection) throws(RegistryError) -> Void
    private var handle: OpaquePointer?
    /// The names of the statements that the server has prepared on this connection, by their texts.
    private var preparedNames: [String: String] = [:]
    private var nextStatement = 0
    private var parameters = ParameterBuffer()
    /// The sent commands whose answers are unread; nil if there are none.
    private var awaited: [Command]?
    /// The SQLSTATE of the last failure; empty if the server did not give one.
    private(set) var failureState = ""
    /// libpq's words about the last connection that was lost.
    private var lostReason = ""

    /// How long a call may take, in milliseconds.
    let callMilliseconds: Int
    private let connectMilliseconds: Int

    /// Creates a connection that is made at its first use.
    init(
        address: Address, callMilliseconds: Int, connectMilliseconds: Int,
        setUp: @escaping (Connection) throws(RegistryError) -> Void
    ) {
        self.address = address
        self.callMilliseconds = callMilliseconds
        self.connectMilliseconds = connectMilliseconds
        self.setUp = setUp
    }

    deinit { close() }

    /// Whether a transaction is open, be it one that has failed.
    var isInTransaction: Bool { handle != nil && PQtransactionStatus(handle) != PQTRANS_IDLE }

    /// Ends the connection; the next use makes another.
    func close() {
        guard let handle else { return }
        PQfinish(handle)
        self.handle = nil
        awaited = nil
        preparedNames.removeAll()
    }

    // MARK: Connecting

    /// Makes sure that there is a connection, as far as can be told without asking the server.
    ///
    /// A connection that the server ended since the last call is noticed and made again.
    func ensureOpen() throws(RegistryError) {
        if handle != nil, isStillOpen() { return }
        close()
        let deadline = Deadline(milliseconds: connectMilliseconds)
        try open(deadline)
        do throws(RegistryError) {
            try requireServer()
            try setUp(self)
        } catch {
            close()
            throw error
        }
    }

    /// Reads unsolicited messages of the server, for example that it ends the connection.
    private func isStillOpen() -> Bool {
        var descriptor = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
        while PQstatus(handle) == CONNECTION_OK {
            guard poll(&descriptor, 1, 0) > 0 else { return true }
            guard PQconsumeInput(handle) == 1 else { return false }
            _ = PQisBusy(handle)
        }
        return false
    }

    /// Tries the servers in order; each has its share of the time.
    private func open(_ deadline: Deadline) throws(RegistryError) {
        failureState = ""
        let candidates = address.candidates
        var reasons: [String] = []
        for (index, options) in candidates.enumerated() {
            let share = deadline.share(of: candidates.count - index)
            do throws(RegistryError) {
                return try open(options, share)
            } catch {
                guard candidates.count > 1 else { throw error }
                reasons.append(
                    share.remainingMilliseconds > 0
                        ? lostReason : "\(Address.hostAndPort(options)) did not answer within \(share.milliseconds) ms")
            }
        }
        throw RegistryError.unreachable(address.description, reasons.joined(separator: "\n"))
    }

    private func open(_ options: [Address.Option], _ deadline: Deadline) throws(RegistryError) {
        var keywords = options.map { UnsafePointer<CChar>(strdup($0.keyword)) } + [nil]
        var values = options.map { UnsafePointer<CChar>(strdup($0.value)) } + [nil]
        defer { for pointer in keywords + values { free(UnsafeMutablePointer(mutating: pointer)) } }
        guard let handle = PQconnectStartParams(&keywords, &values, 0) else {
            throw RegistryError.unreachable(address.description, "out of memory")
        }
        self.handle = handle
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

    private func requireServer() throws(RegistryError) {
        guard PQserverVersion(handle) >= 130_000 else {
            throw RegistryError(
                .invalid,
                "The server of the registry \(address.description) is too old: PostgreSQL 13 or newer is needed.")
        }
        let encoding = PQparameterStatus(handle, "server_encoding").map { String(cString: $0) } ?? ""
        guard encoding == "UTF8" else {
            throw RegistryError(
                .invalid,
                "The database of the registry \(address.description) has the encoding \(encoding), and names are "
                    + "UTF-8. Make another with 'createdb --encoding UTF8 --template template0'.")
        }
    }

    // MARK: Running statements

    /// Runs statements in one round trip, each with the parameters that it takes.
    ///
    /// Outside a transaction they are one by themselves; the first that fails ends the rest.
    ///
    /// - Parameters:
    ///   - calls: the statements to run.
    ///   - deadline: until when.
    /// - Returns: an answer for each.
    /// - Throws: `RegistryError` for the first that failed, or if the connection was lost.
    func run(_ calls: [Call], _ deadline: Deadline) throws(RegistryError) -> [Rows] {
        try forgetAwaited(deadline)
        try begin(calls)
        return try end(deadline)
    }

    /// Whether statements were begun whose answers `end` would read.
    var isAwaiting: Bool { awaited != nil }

    /// Sends statements without waiting, so that the server works meanwhile.
    ///
    /// `end` reads their answers; any other statement in between drops the answers.
    ///
    /// - Parameter calls: the statements, which must not write.
    /// - Throws: `RegistryError` if the connection was lost.
    func begin(_ calls: [Call]) throws(RegistryError) {
        precondition(!isAwaiting, "answers are read or dropped before others are asked for")
        failureState = ""
        guard PQenterPipelineMode(handle) == 1 else { throw lost() }
        var commands: [Command] = []
        for call in calls { try send(call, &commands) }
        guard PQpipelineSync(handle) == 1, PQflush(handle) >= 0 else { throw lost() }
        awaited = commands
    }

    /// Buffers received answers of the begun statements, so that the server need not wait for their reader; a lost
    /// connection shows when they are read.
    func takeInAwaited() { if isAwaiting { _ = PQconsumeInput(handle) } }

    /// Reads the answers of the begun statements.
    ///
    /// - Parameter deadline: until when.
    /// - Returns: an answer for each statement; none if nothing was begun.
    /// - Throws: `RegistryError` for the first that failed, or if the connection was lost.
    func end(_ deadline: Deadline) throws(RegistryError) -> [Rows] {
        guard let commands = awaited else { return [] }
        awaited = nil
        let (rows, failure) = try collect(commands, deadline)
        PQexitPipelineMode(handle)
        if let failure {
            // A prepared statement that the server has forgotten, or whose tables have changed.
            if failureState == "26000" || failureState == "0A000" { close() }
            throw failure
        }
        return rows
    }

    /// Runs a text with any number of statements and no parameters.
    func execute(_ sql: String, _ deadline: Deadline) throws(RegistryError) {
        try forgetAwaited(deadline)
        failureState = ""
        guard PQsendQuery(handle, sql) == 1 else { throw lost() }
        var failure: RegistryError?
        while let result = try nextResult(deadline) {
            if Self.isSuccess(result) {
                PQclear(result)
            } else {
                failure = takeFailure(result, deadline)
            }
        }
        if let failure { throw failure }
    }

    /// Drops the answers of the begun statements; their errors matter only if the connection is lost.
    private func forgetAwaited(_ deadline: Deadline) throws(RegistryError) {
        guard isAwaiting else { return }
        do throws(RegistryError) {
            _ = try end(deadline)
        } catch {
            if handle == nil { throw error }
        }
    }

    /// The sent commands, in the order of the answers.
    private enum Command {
        case prepare(String)
        case execute
    }

    private func send(_ call: Call, _ commands: inout [Command]) throws(RegistryError) {
        let name: String
        if let known = preparedNames[call.sql] {
            name = known
        } else {
            name = "apus_\(nextStatement)"
            nextStatement += 1
            guard PQsendPrepare(handle, name, call.sql, 0, nil) == 1 else { throw lost() }
            preparedNames[call.sql] = name
            commands.append(.prepare(call.sql))
        }
        parameters.removeAll()
        for parameter in call.parameters { parameters.append(parameter) }
        let lengths = parameters.ranges.map { Int32(clamping: $0?.count ?? 0) }
        let formats = [Int32](repeating: 1, count: lengths.count)
        let sent = parameters.bytes.withUnsafeBytes { bytes in
            // A parameter of no bytes needs an address, too: without one it would be NULL.
            let start = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1)
            let values = parameters.ranges.map { range in
                range.flatMap { range in start.map { ($0 + range.lowerBound).assumingMemoryBound(to: CChar.self) } }
            }
            return PQsendQueryPrepared(handle, name, Int32(values.count), values, lengths, formats, 1)
        }
        guard sent == 1 else { throw lost() }
        commands.append(.execute)
    }

    /// Reads the answers up to the end of the pipeline.
    private func collect(
        _ commands: [Command], _ deadline: Deadline
    ) throws(RegistryError) -> (rows: [Rows], failure: RegistryError?) {
        var rows: [Rows] = []
        var failure: RegistryError?
        for command in commands {
            var isDone = false
            while let result = try nextResult(deadline, after: failure) {
                if Self.isSuccess(result) {
                    isDone = true
                    if case .execute = command {
                        rows.append(Rows(result, address: address.description))
                    } else {
                        PQclear(result)
                    }
                } else if failure == nil {
                    failure = takeFailure(result, deadline)
                } else {
                    PQclear(result)
                }
            }
            if !isDone, case .prepare(let sql) = command { preparedNames[sql] = nil }
        }
        // The mark of the pipeline's end.
        PQclear(try nextResult(deadline, after: failure))
        return (rows, failure)
    }

    private static func isSuccess(_ result: OpaquePointer) -> Bool {
        let status = PQresultStatus(result)
        return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK
    }

    private func takeFailure(_ result: OpaquePointer, _ deadline: Deadline) -> RegistryError {
        defer { PQclear(result) }
        failureState = apus_pq_sqlstate(result).map { String(cString: $0) } ?? ""
        let message = apus_pq_primary_message(result).map { String(cString: $0) } ?? ""
        guard !failureState.isEmpty else { return lost() }
        return RegistryError(
            sqlState: failureState, message: message, address: address.description, milliseconds: deadline.milliseconds)
    }

    // MARK: Waiting

    /// The next answer; nil at the end of those to one statement.
    ///
    /// - Parameters:
    ///   - deadline: until when.
    ///   - failure: the error to throw if the connection ends now, because the server gave the reason.
    /// - Returns: the answer, to be cleared by the caller.
    /// - Throws: `RegistryError` with `.unavailable` if there is none in time, or `failure`.
    private func nextResult(
        _ deadline: Deadline, after failure: RegistryError? = nil
    ) throws(RegistryError) -> OpaquePointer? {
        while PQisBusy(handle) == 1 {
            let unsent = PQflush(handle)
            if unsent >= 0 { try wait(for: unsent == 1 ? POLLIN | POLLOUT : POLLIN, deadline) }
            guard unsent >= 0, PQconsumeInput(handle) == 1 else {
                let end = lost()
                throw failure ?? end
            }
        }
        let result = PQgetResult(handle)
        if result == nil, PQstatus(handle) == CONNECTION_BAD {
            let end = lost()
            throw failure ?? end
        }
        return result
    }

    private func wait(for events: Int32, _ deadline: Deadline) throws(RegistryError) {
        var descriptor = pollfd(fd: PQsocket(handle), events: Int16(events), revents: 0)
        while true {
            let left = deadline.remainingMilliseconds
            let count = poll(&descriptor, 1, left)
            if count > 0 { return }
            if count == 0, left == 0 || deadline.remainingMilliseconds == 0 {
                close()
                throw RegistryError.silent(address.description, milliseconds: deadline.milliseconds)
            }
            guard count == 0 || errno == EINTR else { throw lost() }
        }
    }

    /// Ends a connection that does not work, and says why it does not.
    private func lost() -> RegistryError {
        let reason = PQerrorMessage(handle).map { String(cString: $0) } ?? ""
        close()
        lostReason = reason.isEmpty ? "the connection is lost" : reason
        return RegistryError.unreachable(address.description, lostReason)
    }
}
