internal import Synchronization

/// Reads the results of a job, and ends the job when its last owner is gone.
final class PushJobReader: Sendable {
    let job: PushJob
    private let pump: Task<Void, Never>?

    /// Reads the results of a job.
    ///
    /// - Parameters:
    ///   - job: the job.
    ///   - pump: hands tokens to the job; it is cancelled with the job.
    init(job: PushJob, pump: Task<Void, Never>? = nil) {
        self.job = job
        self.pump = pump
    }

    deinit { cancel() }

    /// The results since the last call, at least one; empty when all pushes have ended.
    ///
    /// If the caller's task is cancelled, the job is.
    func nextResults() async -> [PushJob.Numbered] {
        await withTaskCancellationHandler {
            await job.nextResults()
        } onCancel: {
            cancel()
        }
    }

    private func cancel() {
        pump?.cancel()
        job.cancel()
    }
}

/// Results that have ended together, handed out one by one.
struct PushResultBatch {
    private var results: [PushJob.Numbered] = []
    private var index = 0

    init(_ results: [PushJob.Numbered] = []) { self.results = results }

    mutating func next() -> PushResult? {
        guard index < results.count else { return nil }
        defer { index += 1 }
        return results[index].result
    }
}

/// How a sequence of tokens ended, as its reader has to learn it.
final class TokensEnding<Failure: Error>: Sendable {
    private let failure = Mutex<Failure?>(nil)

    func failed(_ error: Failure) { failure.withLock { $0 = error } }

    func takeFailure() -> Failure? { failure.withLock { $0.take() } }
}
