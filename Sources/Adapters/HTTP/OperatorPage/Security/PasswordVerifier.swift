import Crypto
import EventLoop
import HTTPServer
import StructuredLogging
import Synchronization

/// Verifies passwords against the file of users, on a loop of its own because that is slow on purpose.
///
/// The file is read again when it is some seconds old, so a removed user or a changed password ends a login soon. A
/// verified password is remembered by a keyed hash for some minutes, and never itself.
final class PasswordVerifier: Sendable {
    private struct State {
        var users = PageUsers()
        var readNanoseconds: UInt64?
        /// Until when each verified password is known, by the keyed hash of name, password and stored hash.
        var verified: [[UInt8]: UInt64] = [:]
        var budget = LoginBudget()
        /// The unverified logins, each password of a name once.
        var queue = LoginQueue()
        var problem: String?
    }

    private static let verifiedMaximum = 1_000
    private static let verifiedNanoseconds: UInt64 = 300 * 1_000_000_000
    private static let readNanoseconds: UInt64 = 2 * 1_000_000_000

    private let readUsers: @Sendable () throws -> [UInt8]
    private let nowNanoseconds: @Sendable () -> UInt64
    private let loop: EventLoop
    private let logger: Logger
    private let key = (0..<32).map { _ in UInt8.random(in: 0...255) }
    private let state = Mutex(State())

    /// Creates a verifier; the file is read with the first login.
    ///
    /// - Parameters:
    ///   - readUsers: reads the file of users, on the loop.
    ///   - nowNanoseconds: the monotonic time.
    ///   - loop: where passwords are verified.
    ///   - logger: where refused logins are logged.
    init(
        readUsers: @escaping @Sendable () throws -> [UInt8], nowNanoseconds: @escaping @Sendable () -> UInt64,
        loop: EventLoop, logger: Logger
    ) {
        self.readUsers = readUsers
        self.nowNanoseconds = nowNanoseconds
        self.loop = loop
        self.logger = logger
    }

    /// The user of credentials that were verified lately; nil if they have to be verified.
    func known(_ credentials: PageLogin.Credentials) -> PageUsers.Entry? {
        let now = nowNanoseconds()
        return state.withLock { state in
            guard let read = state.readNanoseconds, now < read + Self.readNanoseconds,
                let entry = state.users[credentials.name],
                let until = state.verified[digest(credentials, storedHash: entry.hash.text)],
                now < until
            else { return nil }
            return entry
        }
    }

    /// Verifies credentials on the loop.
    func verify(
        _ credentials: PageLogin.Credentials,
        found: @escaping @Sendable (Result<PageUsers.Entry, PageProblem>) -> Void
    ) {
        // A browser asks for several files at once, with the same password: it is verified once for all of them.
        let ticket = LoginQueue.Ticket(
            name: credentials.name, share: credentials.share, digest: digest(credentials, storedHash: ""))
        switch state.withLock({ $0.queue.append(ticket, found) }) {
        case .joined: break
        case .full: found(.failure(Self.busy(seconds: 1)))
        case .first:
            loop.submit { [self] in
                let result = verifyNow(credentials)
                for found in state.withLock({ $0.queue.remove(ticket) }) { found(result) }
            }
        }
    }

    private func verifyNow(_ credentials: PageLogin.Credentials) -> Result<PageUsers.Entry, PageProblem> {
        readAgain()
        if let entry = known(credentials) { return .success(entry) }
        let now = nowNanoseconds()
        let (name, share) = (credentials.name, credentials.share)
        let (entry, waitSeconds, problem) = state.withLock { state in
            (
                state.users[name], state.budget.waitSeconds(name: name, share: share, nowNanoseconds: now),
                state.problem
            )
        }
        if let problem { return .failure(PageProblem(.unavailable, problem)) }
        if let waitSeconds {
            refused(credentials, "too many wrong passwords")
            return .failure(Self.busy(seconds: waitSeconds))
        }
        // An unknown name takes as long as a known one.
        let isRight = (entry?.hash ?? Self.nobody)?.matches(credentials.password) ?? false
        guard let entry, isRight else {
            state.withLock { $0.budget.failed(name: name, share: share, nowNanoseconds: now) }
            refused(credentials, entry == nil ? "no such user" : "the password is wrong")
            return .failure(PageLogin.missing)
        }
        state.withLock { state in
            if state.verified.count >= Self.verifiedMaximum { state.verified.removeAll() }
            state.verified[digest(credentials, storedHash: entry.hash.text)] = now + Self.verifiedNanoseconds
        }
        return .success(entry)
    }

    private func readAgain() {
        let now = nowNanoseconds()
        let isFresh = state.withLock { state in
            state.problem == nil && state.readNanoseconds.map { now < $0 + Self.readNanoseconds } ?? false
        }
        guard !isFresh else { return }
        do {
            let users = try PageUsers(try readUsers())
            state.withLock { state in
                state.users = users
                state.readNanoseconds = now
                state.problem = nil
            }
        } catch {
            let isNew = state.withLock { state in
                defer { state.problem = "The file of users (admin.users_file) cannot be used: \(error)." }
                state.users = PageUsers()
                return state.problem == nil
            }
            if isNew { logger.log(.error, "page.users.unreadable", [.field("reason", "\(error)")]) }
        }
    }

    private func refused(_ credentials: PageLogin.Credentials, _ reason: String) {
        logger.log(
            .warning, "page.login.refused",
            [.field("user", credentials.name), .field("address", credentials.address), .field("reason", reason)])
    }

    private func digest(_ credentials: PageLogin.Credentials, storedHash: String) -> [UInt8] {
        MessageAuthentication.code(
            of: Array("\(credentials.name)\u{0}\(storedHash)\u{0}".utf8) + credentials.password, key: key)
    }

    private static let nobody = try? PasswordHash(of: [])

    private static func busy(seconds: Int) -> PageProblem {
        PageProblem(
            .busy, "Too many logins at once. Try again in \(seconds) s.",
            fields: [HTTPField("Retry-After", "\(seconds)")])
    }
}
