import Essentials
import EventLoop
import JSON
public import RegistryCore
import StructuredLogging
import Synchronization

/// The context of routes on one of the registry's two threads.
final class RegistryContext {
    /// The use of a thread's connection to the store.
    enum Purpose: Hashable, Sendable {
        /// It reads, and does not wait for writers.
        case reading
        /// It changes something.
        case writing
    }

    /// How often the store is looked after.
    private static let lookIntervalNanoseconds: UInt64 = 1_000_000_000
    /// The number of looks after which one also writes, while all is well.
    private static let looksUntilThorough = 30
    /// A call that failed after so long has waited for something that did not come.
    private static let vainNanosecondsMinimum: UInt64 = 250_000_000

    private static let busy = RegistryError(
        .unavailable, "The registry was asked a moment ago, and did not answer in time. Try again.")

    /// Devices, subscriptions, tokens and the configurations of identity pools.
    private let registry: any ServedRegistry
    private let purpose: Purpose
    /// Reads bodies; each is read before the next.
    let parser = JSONParser(depthMaximum: 32, bytesMaximum: Route.largeBodyBytes, roundsNumbers: true)
    /// Where failures of ours are told.
    private let logger: Logger
    /// The clients that wait for their notifications, on the thread that writes.
    let courier: LongPollQueue
    /// Makes and recognises what such clients have.
    let courierTokens: CourierTokens
    private let health: RegistryHealth
    private let clock: () -> Int64
    private let loop: EventLoop
    private var isFailing = false
    /// Whether a request has waited in vain; until the store answers again, others are refused at once.
    private var isWaitingVain = false
    private var looks = 0

    init(
        loop: EventLoop, registry: any ServedRegistry, purpose: Purpose, courier: LongPollQueue,
        courierTokens: CourierTokens, health: RegistryHealth, logger: Logger, nowMilliseconds: @escaping () -> Int64
    ) {
        self.loop = loop
        self.registry = registry
        self.purpose = purpose
        self.courier = courier
        self.courierTokens = courierTokens
        self.health = health
        self.logger = logger
        clock = nowMilliseconds
    }

    /// The time, in milliseconds since 1970.
    var nowMilliseconds: Int64 { clock() }

    /// Uses the registry, and logs failures that the client does not see.
    ///
    /// The client's own faults are not logged. After a call that waited in vain, for a lock or a silent server, others
    /// are refused at once until the store has answered, so that their times do not add up.
    ///
    /// - Parameters:
    ///   - isPatient: whether to try even then, for a request that cannot be repeated by another one.
    ///   - body: the work.
    /// - Returns: the result of `body`.
    /// - Throws: the error of `body`, or that the registry is busy.
    func using<Value>(
        isPatient: Bool = false, _ body: (any ServedRegistry) throws(RegistryError) -> Value
    ) throws(RegistryError) -> Value {
        guard isPatient || !isWaitingVain else { throw Self.busy }
        do throws(RegistryError) {
            return try body(registry)
        } catch {
            guard ![.notFound, .invalid, .quotaExceeded].contains(error.code) else { throw error }
            logger.log(
                .error, "registry.request.failed",
                [.field("code", error.code.rawValue), .field("reason", error.message)])
            // One row may be locked or damaged while the store is well: the store itself says how it is.
            if !isFailing { look(thoroughly: true) }
            throw error
        }
    }

    /// Follows what the registry remembers of events, a part at a time, so that a request that asks has little to read.
    func follow(_ memory: any EventMemoryFollower, afterNanoseconds delay: UInt64 = 0) {
        loop.schedule(afterNanoseconds: delay) { [weak self] in
            guard let self else { return }
            // `look` finds a failure of the store, and logs it.
            let areAllRead = (try? memory.step(registry, atMilliseconds: nowMilliseconds)) ?? true
            follow(memory, afterNanoseconds: areAllRead ? Self.lookIntervalNanoseconds : 0)
        }
    }

    // MARK: Looking after the store

    /// Begins to look after the store: who routes by `/readyz` sends no request that would find out that it is back.
    func beginLooking() {
        loop.preconditionOnLoop()
        loop.schedule(afterNanoseconds: Self.lookIntervalNanoseconds) { [weak self] in
            guard let self else { return }
            looks += 1
            look(thoroughly: isFailing || looks.isMultiple(of: Self.looksUntilThorough))
            if purpose == .reading { lookAtRequests() }
            beginLooking()
        }
    }

    /// Finds out whether too many requests are answered with an error of the server, and logs when that changes.
    private func lookAtRequests() {
        guard health.requests.look(at: MonotonicTime(nanoseconds: MonotonicClock.nowNanoseconds())) else { return }
        guard let problem = health.requests.problem else { return logger.log(.info, "registry.requests.recovered") }
        logger.log(
            .error, "registry.requests.failing",
            [
                .field("detail", problem),
                .field("advice", "Look for registry.request.failed in the log, and whether the registry is slow."),
            ])
    }

    /// Finds out whether the store can be used.
    ///
    /// - Parameter thoroughly: whether pages are written, too.
    private func look(thoroughly: Bool) {
        let began = MonotonicClock.nowNanoseconds()
        let wasFailing = isFailing
        do throws(RegistryError) {
            switch purpose {
            case .reading: _ = try registry.tokens()
            case .writing: try registry.checkWriting(thoroughly: thoroughly)
            }
            isFailing = false
            isWaitingVain = false
            health.succeeded(purpose)
            if wasFailing { logger.log(.info, "registry.check.succeeded", [.field("purpose", "\(purpose)")]) }
        } catch {
            failed(error, sinceNanoseconds: began)
            logger.log(
                wasFailing ? .debug : .error, "registry.check.failed",
                [.field("code", error.code.rawValue), .field("reason", error.message)])
        }
    }

    private func failed(_ error: RegistryError, sinceNanoseconds began: UInt64) {
        isFailing = true
        let waitedNanoseconds = MonotonicClock.nowNanoseconds() - began
        if error.code == .unavailable, waitedNanoseconds >= Self.vainNanosecondsMinimum { isWaitingVain = true }
        health.failed(purpose, error)
    }
}

/// Whether the registry can be read and written, as it was found when it was last tried.
///
/// A readable store may still be locked or full, so reading and writing are reported separately.
final class RegistryHealth: Sendable {
    private let reasons = Mutex<[RegistryContext.Purpose: String]>([:])
    /// How the requests are answered.
    let requests = RequestErrors()

    /// Why not, for an operator; nil if it can.
    var failure: String? { reasons.withLock { $0[.writing] ?? $0[.reading] } }

    /// The registry could be used for this.
    func succeeded(_ purpose: RegistryContext.Purpose) { reasons.withLock { $0[purpose] = nil } }

    /// The registry could not be used for this, and no client was to blame.
    func failed(_ purpose: RegistryContext.Purpose, _ error: RegistryError) {
        reasons.withLock { $0[purpose] = error.message }
    }
}

/// The registry's ports for the API: devices, subscriptions and counts of campaigns in one store.
public typealias ServedRegistry = CampaignRegistry & CourierKeyRegistry & CourierRegistry & DeviceDetailRegistry
    & EventMemoryRegistry & FanOutRegistry & OutcomeHistoryRegistry & Registry & RegistryAdministration
    & SubscriptionRegistry
