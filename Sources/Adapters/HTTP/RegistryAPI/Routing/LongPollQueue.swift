import EventLoop
import HTTPServer
import Notifications
import RegistryCore

/// The clients that wait for their notifications; lives on the registry's loop.
///
/// However many wait, the registry is asked for all of them at once, and once a second at most.
final class LongPollQueue {
    /// How many requests may wait at once.
    static let waitingMaximum = 1_000
    private static let perClientMaximum = 4
    private static let waitSecondsCeiling = 86_400
    private static let lookIntervalNanoseconds: UInt64 = 1_000_000_000
    /// How long a request waits at least that a newer one of its client has followed.
    private static let olderWaitSeconds: UInt64 = 5

    private let loop: EventLoop
    private var slots: LongPollSlots<SuspendedRequest>
    private var lastLookNanoseconds: UInt64?
    private var isLookScheduled = false

    init(loop: EventLoop, waitSecondsMaximum: Int) {
        self.loop = loop
        let waitSeconds = UInt64(min(max(waitSecondsMaximum, 0), Self.waitSecondsCeiling))
        slots = LongPollSlots(
            LongPollSlots.Limits(
                slotsMaximum: Self.waitingMaximum, perClientMaximum: Self.perClientMaximum,
                waitNanoseconds: waitSeconds * 1_000_000_000,
                olderWaitNanoseconds: Self.olderWaitSeconds * 1_000_000_000))
    }

    /// A client asks for its next notification; `LongPollSlots` decides which requests wait.
    func arrived(_ request: SuspendedRequest, for token: DeviceToken, from address: String, _ context: RegistryContext)
    {
        loop.preconditionOnLoop()
        let now = MonotonicClock.nowNanoseconds()
        switch slots.arrived(request, for: token, from: address, nowNanoseconds: now) {
        case .waits(let other):
            other?.answer(CourierAnswer.busy("too many clients wait already"))
            scheduleLook(context)
        case .full: request.answer(CourierAnswer.busy("too many clients wait already"))
        case .tooManyOfClient:
            request.answer(CourierAnswer.tooMany(retryAfterSeconds: Int(Self.olderWaitSeconds)))
        }
    }

    private func scheduleLook(_ context: RegistryContext) {
        guard !isLookScheduled else { return }
        isLookScheduled = true
        let now = MonotonicClock.nowNanoseconds()
        let next = lastLookNanoseconds.map { $0 + Self.lookIntervalNanoseconds } ?? now
        _ = loop.schedule(afterNanoseconds: next > now ? next - now : 0) { [weak self, weak context] in
            guard let self, let context else { return }
            isLookScheduled = false
            look(context)
            if slots.count > 0 { scheduleLook(context) }
        }
    }

    private func look(_ context: RegistryContext) {
        // From its end, so that between two looks that wait for a lock others have their turn.
        defer { lastLookNanoseconds = MonotonicClock.nowNanoseconds() }
        // A notification taken for a client that has gone would be lost.
        end(slots.takeAbandoned(\.isAbandoned), CourierAnswer.nothing)
        let tokens = slots.tokens
        if !tokens.isEmpty { collect(tokens, context) }
        end(slots.takeDone(nowNanoseconds: MonotonicClock.nowNanoseconds()), CourierAnswer.nothing)
    }

    private func collect(_ tokens: [DeviceToken], _ context: RegistryContext) {
        do throws(RegistryError) {
            // Most looks find nothing, and then they do not meet writers.
            let mail = try context.using(isPatient: true) { (registry) throws(RegistryError) in
                try registry.collect(tokens, nowMilliseconds: context.nowMilliseconds)
            }
            for (token, mail) in zip(tokens, mail) {
                switch mail {
                case .unknown: end(slots.takeAll(token), CourierAnswer.unknown)
                case .payload(let payload): slots.takeNewest(token)?.answer(CourierAnswer.payload(payload))
                case .nothing: break
                }
            }
        } catch {
            let refusal = CourierAnswer.busy("the registry cannot be used now")
            for token in tokens { slots.takeNewest(token)?.answer(refusal) }
        }
    }

    private func end(_ requests: [SuspendedRequest], _ response: HTTPResponse) {
        for request in requests { request.answer(response) }
    }
}

/// The answers to clients that fetch their notifications.
enum CourierAnswer {
    /// There is no such device, or no longer: its client asks for another token.
    static let unknown = HTTPResponse.text(404, "there is no such client; ask for a new token")

    /// Nothing came.
    static let nothing = HTTPResponse(status: 204)

    /// A notification.
    static func payload(_ bytes: [UInt8]) -> HTTPResponse {
        .content(200, type: "application/json", bytes)
    }

    /// It came too often.
    static func tooMany(retryAfterSeconds seconds: Int) -> HTTPResponse {
        var response = HTTPResponse.text(429, "too many requests")
        response.fields.append(HTTPField("Retry-After", "\(seconds)"))
        return response
    }

    /// It cannot be answered now.
    static func busy(_ message: String) -> HTTPResponse {
        var response = HTTPResponse.text(503, message)
        response.fields.append(HTTPField("Retry-After", "1"))
        return response
    }
}
