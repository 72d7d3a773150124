import Notifications
internal import Synchronization

/// Reads the outcomes of a job, and ends the job when its last owner is gone.
final class PushJobReader: Sendable {
    let job: PushJob
    private let pump: Task<Void, Never>?

    /// Reads the outcomes of a job.
    ///
    /// - Parameters:
    ///   - job: the job.
    ///   - pump: hands tokens to the job; it is cancelled with the job.
    init(job: PushJob, pump: Task<Void, Never>? = nil) {
        self.job = job
        self.pump = pump
    }

    deinit { cancel() }

    /// The pushes that ended since the last call, at least one; empty when all have ended.
    ///
    /// If the caller's task is cancelled, the job is.
    func nextEndings() async -> [PushJob.Ending] {
        await withTaskCancellationHandler {
            await job.nextEndings()
        } onCancel: {
            cancel()
        }
    }

    private func cancel() {
        pump?.cancel()
        job.cancel()
    }
}

/// Pushes that have ended together, handed out one by one.
struct PushEndingBatch {
    private var endings: [PushJob.Ending] = []
    private var index = 0

    init(_ endings: [PushJob.Ending] = []) { self.endings = endings }

    mutating func next() -> PushJob.Ending? {
        guard index < endings.count else { return nil }
        defer { index += 1 }
        return endings[index]
    }
}

/// How a sequence of addresses ended, as its reader has to learn it.
final class AddressesEnding<Failure: Error>: Sendable {
    private let failure = Mutex<Failure?>(nil)

    func failed(_ error: Failure) { failure.withLock { $0 = error } }

    func takeFailure() -> Failure? { failure.withLock { $0.take() } }
}
