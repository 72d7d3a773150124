import EventLoop
import HTTPServer
import PushCore

/// The clients that wait for their notifications; lives on the registry's loop.
///
/// However many wait, the registry is asked for all of them at once, and once a second at most.
final class CourierDesk {
    private struct Waiting {
        let request: HeldRequest
        let untilNanoseconds: UInt64
    }

    /// How many clients may wait at once.
    static let waitingMaximum = 1_000
    private static let lookIntervalNanoseconds: UInt64 = 1_000_000_000

    private let loop: EventLoop
    private let waitNanosecondsMaximum: UInt64
    private var waiting: [DeviceToken: Waiting] = [:]
    private var lastLookNanoseconds: UInt64?
    private var isLookScheduled = false

    init(loop: EventLoop, waitSecondsMaximum: Int) {
        self.loop = loop
        waitNanosecondsMaximum = UInt64(max(waitSecondsMaximum, 0)) * 1_000_000_000
    }

    /// A client asks for its next notification; what it asked before, on another connection, ends.
    func arrived(_ request: HeldRequest, for token: DeviceToken, _ context: RegistryContext) {
        loop.preconditionOnLoop()
        waiting.removeValue(forKey: token)?.request.answer(CourierAnswer.nothing)
        guard waiting.count < Self.waitingMaximum else {
            return request.answer(CourierAnswer.busy("too many clients wait already"))
        }
        waiting[token] = Waiting(
            request: request, untilNanoseconds: MonotonicClock.nowNanoseconds() + waitNanosecondsMaximum)
        scheduleLook(context)
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
            if !waiting.isEmpty { scheduleLook(context) }
        }
    }

    private func look(_ context: RegistryContext) {
        lastLookNanoseconds = MonotonicClock.nowNanoseconds()
        // What is taken for a client that has gone would be lost.
        for (token, entry) in waiting where entry.request.isAbandoned { end(token, CourierAnswer.nothing) }
        guard !waiting.isEmpty else { return }
        let tokens = Array(waiting.keys)
        do throws(RegistryError) {
            // Most looks find nothing to take, and then nobody who writes is in the way.
            let mail = try context.using(isPatient: true) { (registry) throws(RegistryError) in
                try registry.collect(tokens, nowMilliseconds: context.nowMilliseconds)
            }
            let now = MonotonicClock.nowNanoseconds()
            for (token, mail) in zip(tokens, mail) { found(mail, for: token, nowNanoseconds: now) }
        } catch {
            for token in tokens { end(token, CourierAnswer.busy("the registry cannot be used now")) }
        }
    }

    private func found(_ mail: CourierMail, for token: DeviceToken, nowNanoseconds: UInt64) {
        switch mail {
        case .unknown: end(token, CourierAnswer.unknown)
        case .payload(let payload): end(token, CourierAnswer.payload(payload))
        case .nothing:
            if let entry = waiting[token], entry.untilNanoseconds <= nowNanoseconds {
                end(token, CourierAnswer.nothing)
            }
        }
    }

    private func end(_ token: DeviceToken, _ response: HTTPResponse) {
        waiting.removeValue(forKey: token)?.request.answer(response)
    }
}
