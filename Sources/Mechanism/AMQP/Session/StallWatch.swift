import EventLoop
import Synchronization

/// The thread that looks after all `StallGuard`s of the process; it rests while there is none.
final class StallWatch: Sendable {
    private static let intervalNanoseconds: UInt64 = 250_000_000
    private static let instance = Mutex<StallWatch?>(nil)

    private let loop: EventLoop
    private let guards = Mutex<[StallGuard]>([])

    private init() throws(EventLoopError) { loop = try EventLoop(name: "amqp-watch") }

    /// The one watch of the process, made on first use.
    static func shared() throws(EventLoopError) -> StallWatch {
        let result: Result<StallWatch, EventLoopError> = instance.withLock { instance in
            if let instance { return .success(instance) }
            do throws(EventLoopError) {
                let watch = try StallWatch()
                instance = watch
                return .success(watch)
            } catch { return .failure(error) }
        }
        return try result.get()
    }

    func add(_ added: StallGuard) {
        let isFirst = guards.withLock { guards in
            guards.append(added)
            return guards.count == 1
        }
        if isFirst { loop.submit { self.scheduleCheck() } }
    }

    private func scheduleCheck() {
        loop.schedule(afterNanoseconds: Self.intervalNanoseconds) { [self] in
            let now = loop.nowNanoseconds
            let remain = guards.withLock { guards in
                guards.removeAll { !$0.check(nowNanoseconds: now) }
                return !guards.isEmpty
            }
            if remain { scheduleCheck() }
        }
    }
}
