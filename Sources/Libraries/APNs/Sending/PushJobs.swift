import Notifications
internal import Synchronization

/// The jobs of one client: hands each result to the job that it belongs to.
final class PushJobs: PushTransportHandler {
    private struct State {
        var byNumber: [UInt32: PushJob] = [:]
        var next: UInt32 = 0
    }

    private let state = Mutex(State())

    /// How many jobs have not ended.
    var count: Int { state.withLock { $0.byNumber.count } }

    /// Makes a job under a number of its own.
    func add(_ make: (UInt32) -> PushJob) -> PushJob {
        state.withLock { state in
            repeat { state.next &+= 1 } while state.byNumber[state.next] != nil
            let job = make(state.next)
            state.byNumber[state.next] = job
            return job
        }
    }

    /// Forgets a job; results that still come for it are dropped.
    func remove(_ number: UInt32) { state.withLock { _ = $0.byNumber.removeValue(forKey: number) } }

    func pushesEnded(_ results: [Notifications.PushResult]) {
        var rest = results[...]
        while let first = rest.first {
            let number = UInt32(first.identifier >> 32)
            let run = rest.prefix { UInt32($0.identifier >> 32) == number }
            rest = rest.dropFirst(run.count)
            let job = state.withLock { $0.byNumber[number] }
            job?.ended(run)
        }
    }
}
