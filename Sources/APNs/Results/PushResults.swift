/// The results of one call, as they come: in the order of the answers, not of the tokens.
///
/// Sending begins with the iteration, and there can be one. Tokens are taken as fast as results are: at most a window
/// of pushes has been sent and not been looked at, however many tokens there are. Leaving the loop, or cancelling its
/// task, sends to no more tokens; what was in flight then may have arrived.
public struct PushResults: AsyncSequence, Sendable {
    /// A result.
    public typealias Element = PushResult
    /// Reading results throws nothing: each result says how its push ended.
    public typealias Failure = Never

    /// The most tokens that are handed over together.
    private static let batchMaximum = 256

    private let job: PushJob
    private let pump: @Sendable () async -> Void

    init<Tokens: Sequence & Sendable>(job: PushJob, tokens: Tokens) where Tokens.Element == PushToken {
        self.job = job
        pump = {
            var iterator = tokens.makeIterator()
            var batch: [PushToken] = []
            repeat {
                await job.waitForRoom()
                batch.removeAll(keepingCapacity: true)
                let count = Swift.min(job.room, Self.batchMaximum)
                while batch.count < count, let token = iterator.next() { batch.append(token) }
                job.send(to: batch)
            } while !batch.isEmpty
            job.exhausted()
        }
    }

    init<Tokens: AsyncSequence & Sendable>(
        job: PushJob, asynchronous tokens: Tokens
    ) where Tokens.Element == PushToken {
        self.job = job
        pump = {
            do {
                for try await token in tokens {
                    await job.waitForRoom()
                    guard !job.isCancelled else { break }
                    job.send(to: [token])
                }
            } catch {
                // The sequence of tokens ended early; its error is its owner's.
            }
            job.exhausted()
        }
    }

    /// Begins to send and to read.
    public func makeAsyncIterator() -> Iterator {
        let pump = pump
        return Iterator(job: job, pump: Task { await pump() })
    }

    /// Reads the results.
    public struct Iterator: AsyncIteratorProtocol {
        /// Ends the job when the last copy of the iterator is gone.
        private final class Reader {
            let job: PushJob
            private let pump: Task<Void, Never>

            init(job: PushJob, pump: Task<Void, Never>) {
                self.job = job
                self.pump = pump
            }

            deinit {
                pump.cancel()
                job.cancel()
            }
        }

        private let reader: Reader
        private var batch: [PushJob.Numbered] = []
        private var place = 0

        init(job: PushJob, pump: Task<Void, Never>) { reader = Reader(job: job, pump: pump) }

        /// The next result; nil when every push has ended.
        public mutating func next() async -> PushResult? {
            if place == batch.count {
                let job = reader.job
                batch = await withTaskCancellationHandler {
                    await job.nextResults()
                } onCancel: {
                    job.cancel()
                }
                place = 0
            }
            guard place < batch.count else { return nil }
            defer { place += 1 }
            return batch[place].result
        }
    }
}
