import CPostgres
import Glibc

/// One connection to the server, which is made again when it was lost, leads to a server that cannot be written, or has
/// reached its age.
///
/// libpq is used in its non-blocking form: this type waits itself, with `poll` and a deadline, so no call blocks longer
/// than its deadline. The one exception is the look-up of the host's name, whose time the system's resolver bounds.
/// Several statements are sent at once (PostgreSQL, "Pipeline Mode"), so a call costs one round trip, not one each.
///
/// Nothing of ours stays in a session that a pooler shares with others (`SessionSettings`): tables are named with their
/// schema, locks end with their transaction, and statements are prepared by name only where the pooler keeps them.
public final class PostgresConnection<Failure: ServerFailure> {
    /// Where the server is.
    public let address: ServerAddress
    /// The settings of the session that runs statements.
    let settings: SessionSettings
    /// Whether it is for writing, so that a server that can only be read is of no use.
    public let isForWriting: Bool
    /// Runs on each new connection before its first use.
    let setUp: (PostgresConnection) throws(Failure) -> Void
    /// The connection that there is.
    public internal(set) var session: ServerSession?
    private var parameters = ParameterBuffer()
    /// The sent commands whose answers are unread; nil if there are none.
    private var awaited: [Command]?
    /// The SQLSTATE of the last failure; empty if the server did not give one.
    public internal(set) var failureState = ""
    /// libpq's words about the last connection that was lost.
    var lostReason = ""
    /// Whether a pooler kept a statement whose tables have changed; it would give it to the next connection, too.
    private(set) var distrustsKeptStatements = false

    /// How long a call may take, in milliseconds.
    public let callMilliseconds: Int
    /// How long making a connection may take, in milliseconds.
    let connectMilliseconds: Int
    /// The longest age of a connection, in milliseconds; the next one follows a name that has moved.
    let ageMilliseconds: Int

    /// Creates a connection that is made at its first use.
    public init(
        address: ServerAddress, callMilliseconds: Int, connectMilliseconds: Int, ageMilliseconds: Int = 300_000,
        settings: SessionSettings = .none, isForWriting: Bool = false,
        setUp: @escaping (PostgresConnection) throws(Failure) -> Void
    ) {
        self.address = address
        self.callMilliseconds = callMilliseconds
        self.connectMilliseconds = connectMilliseconds
        self.ageMilliseconds = ageMilliseconds
        self.settings = settings
        self.isForWriting = isForWriting && !address.wantsStandby
        self.setUp = setUp
    }

    /// libpq's connection; nil if there is none.
    var handle: OpaquePointer? { session?.handle }

    /// Whether a transaction is open, be it one that has failed.
    public var isInTransaction: Bool { handle != nil && PQtransactionStatus(handle) != PQTRANS_IDLE }

    /// Ends the connection; the next use makes another.
    public func close() {
        session = nil
        awaited = nil
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
    /// - Throws: `Failure` for the first that failed, or if the connection was lost.
    public func run(_ calls: [Call], _ deadline: Deadline) throws(Failure) -> [Rows] {
        try forgetAwaited(deadline)
        try begin(calls)
        return try end(deadline)
    }

    /// Whether statements were begun whose answers `end` would read.
    public var isAwaiting: Bool { awaited != nil }

    /// Sends statements without waiting, so that the server works meanwhile.
    ///
    /// `end` reads their answers; any other statement in between drops the answers.
    ///
    /// - Parameter calls: the statements, which must not write.
    /// - Throws: `Failure` if the connection was lost.
    public func begin(_ calls: [Call]) throws(Failure) {
        precondition(!isAwaiting, "answers are read or dropped before others are asked for")
        failureState = ""
        var settings = isInTransaction ? nil : session?.transactionSettings
        guard PQenterPipelineMode(handle) == 1 else { throw lost() }
        var commands: [Command] = []
        for call in calls {
            if let first = settings, !call.beginsTransaction {
                try send(first, .setting, &commands)
                settings = nil
            }
            try send(call, .execute, &commands)
        }
        guard PQpipelineSync(handle) == 1, PQflush(handle) >= 0 else { throw lost() }
        awaited = commands
    }

    /// Buffers received answers of the begun statements, so that the server need not wait for their reader; a lost
    /// connection shows when they are read.
    public func takeInAwaited() { if isAwaiting { _ = PQconsumeInput(handle) } }

    /// Reads the answers of the begun statements.
    ///
    /// - Parameter deadline: until when.
    /// - Returns: an answer for each statement; none if nothing was begun.
    /// - Throws: `Failure` for the first that failed, or if the connection was lost.
    public func end(_ deadline: Deadline) throws(Failure) -> [Rows] {
        guard let commands = awaited else { return [] }
        awaited = nil
        let (rows, failure) = try collect(commands, deadline)
        PQexitPipelineMode(handle)
        if let failure {
            if failureState == "0A000", session?.isShared == true { distrustsKeptStatements = true }
            if isOfNoUse(after: failureState) { close() }
            throw failure
        }
        return rows
    }

    /// Whether a failure shows that this session will not do, and another one may.
    private func isOfNoUse(after state: String) -> Bool {
        switch state {
        // A prepared statement that the server has forgotten, or whose tables have changed; a transaction that failed.
        case "26000", "0A000", "25P02": true
        // A standby, or a server that was told to take no writes: the primary is elsewhere now.
        case "25006": isForWriting
        default: false
        }
    }

    /// Runs a text with any number of statements and no parameters.
    public func execute(_ sql: String, _ deadline: Deadline) throws(Failure) {
        try forgetAwaited(deadline)
        failureState = ""
        guard PQsendQuery(handle, sql) == 1 else { throw lost() }
        var failure: Failure?
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
    private func forgetAwaited(_ deadline: Deadline) throws(Failure) {
        guard isAwaiting else { return }
        do throws(Failure) {
            _ = try end(deadline)
        } catch {
            if handle == nil { throw error }
        }
    }

    /// The sent commands, in the order of the answers.
    private enum Command {
        case prepare(String)
        case setting
        case execute
    }

    private func send(_ call: Call, _ command: Command, _ commands: inout [Command]) throws(Failure) {
        let name = try prepare(call.sql, &commands)
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
            let count = Int32(values.count)
            guard let name else {
                return PQsendQueryParams(handle, call.sql, count, nil, values, lengths, formats, 1)
            }
            return PQsendQueryPrepared(handle, name, count, values, lengths, formats, 1)
        }
        guard sent == 1 else { throw lost() }
        commands.append(command)
    }

    /// Prepares a statement by name, unless it is; nil if the session keeps no statements.
    private func prepare(_ sql: String, _ commands: inout [Command]) throws(Failure) -> String? {
        guard let session, session.keepsStatements else { return nil }
        if let known = session.preparedNames[sql] { return known }
        let name = session.makeName()
        guard PQsendPrepare(handle, name, sql, 0, nil) == 1 else { throw lost() }
        session.preparedNames[sql] = name
        commands.append(.prepare(sql))
        return name
    }

    /// Reads the answers up to the end of the pipeline.
    private func collect(
        _ commands: [Command], _ deadline: Deadline
    ) throws(Failure) -> (rows: [Rows], failure: Failure?) {
        var rows: [Rows] = []
        var failure: Failure?
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
            if !isDone, case .prepare(let sql) = command { session?.preparedNames[sql] = nil }
        }
        // The mark of the pipeline's end.
        PQclear(try nextResult(deadline, after: failure))
        return (rows, failure)
    }

    private static func isSuccess(_ result: OpaquePointer) -> Bool {
        let status = PQresultStatus(result)
        return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK
    }

    private func takeFailure(_ result: OpaquePointer, _ deadline: Deadline) -> Failure {
        defer { PQclear(result) }
        failureState = apus_pq_sqlstate(result).map { String(cString: $0) } ?? ""
        let message = apus_pq_primary_message(result).map { String(cString: $0) } ?? ""
        guard !failureState.isEmpty else { return lost() }
        if failureState == "25006", isForWriting { return .onlyReadable(address.description, message) }
        return Failure(
            sqlState: failureState, message: message, address: address.description, milliseconds: deadline.milliseconds)
    }

    // MARK: Waiting

    /// The next answer; nil at the end of those to one statement.
    ///
    /// - Parameters:
    ///   - deadline: until when.
    ///   - failure: the error to throw if the connection ends now, because the server gave the reason.
    /// - Returns: the answer, to be cleared by the caller.
    /// - Throws: `Failure` with `.unavailable` if there is none in time, or `failure`.
    private func nextResult(
        _ deadline: Deadline, after failure: Failure? = nil
    ) throws(Failure) -> OpaquePointer? {
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

    func wait(for events: Int32, _ deadline: Deadline) throws(Failure) {
        var descriptor = pollfd(fd: PQsocket(handle), events: Int16(events), revents: 0)
        while true {
            let left = deadline.remainingMilliseconds
            let count = poll(&descriptor, 1, left)
            if count > 0 { return }
            if count == 0, left == 0 || deadline.remainingMilliseconds == 0 {
                close()
                throw Failure.silent(address.description, milliseconds: deadline.milliseconds)
            }
            guard count == 0 || errno == EINTR else { throw lost() }
        }
    }

    /// Ends a connection to a server that will not do.
    func refuse(_ reason: String) {
        close()
        lostReason = reason
    }

    /// Ends a connection that does not work, and says why it does not.
    func lost() -> Failure {
        let reason = Self.line(PQerrorMessage(handle).map { String(cString: $0) } ?? "")
        close()
        lostReason = reason.isEmpty ? "the connection is lost" : reason
        return Failure.unreachable(address.description, lostReason)
    }

    /// libpq's words, which may be on several lines, on one.
    private static func line(_ words: String) -> String {
        words.split(whereSeparator: \.isNewline).map { $0.drop { $0 == "\t" || $0 == " " } }.joined(separator: "; ")
    }
}
