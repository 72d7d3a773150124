/// The results of sending to a sequence of tokens, as they come: in the order of the answers, not of the tokens.
///
/// Sending begins with the iteration, and a second one would send again. Reading a result takes the next tokens, so a
/// lazy sequence is never read further ahead than one window of pushes, however many tokens there are. Leaving the
/// loop, or cancelling its task, sends to no more tokens; pushes in flight at that moment may have arrived.
public struct PushResults<Tokens: Sequence>: AsyncSequence where Tokens.Element == PushToken {
    /// A result.
    public typealias Element = PushResult
    /// Reading results throws nothing: each result says how its push ended.
    public typealias Failure = Never

    private let tokens: Tokens
    /// Results that are never read leave no job behind.
    private let makeJob: @Sendable () -> PushJob

    init(tokens: Tokens, makeJob: @escaping @Sendable () -> PushJob) {
        self.tokens = tokens
        self.makeJob = makeJob
    }

    /// Begins to send and to read.
    public func makeAsyncIterator() -> Iterator { Iterator(job: makeJob(), tokens: tokens.makeIterator()) }

    /// Takes tokens and reads the results.
    public struct Iterator: AsyncIteratorProtocol {
        /// The most tokens that are handed over together.
        private static var batchMaximum: Int { 64 }

        private let reader: PushJobReader
        private var tokens: Tokens.Iterator
        private var isExhausted = false
        private var batch = PushResultBatch()

        init(job: PushJob, tokens: Tokens.Iterator) {
            reader = PushJobReader(job: job)
            self.tokens = tokens
        }

        /// The next result; nil when every push has ended.
        public mutating func next(isolation: isolated (any Actor)? = #isolation) async -> PushResult? {
            if let result = batch.next() { return result }
            fillWindow()
            batch = PushResultBatch(await reader.nextResults())
            return batch.next()
        }

        /// Sends as long as the window has room and no result is waiting to be read.
        private mutating func fillWindow() {
            var count = Swift.min(reader.job.room, Self.batchMaximum)
            while !isExhausted, count > 0 {
                var taken: [PushToken] = []
                taken.reserveCapacity(count)
                while taken.count < count, let token = tokens.next() { taken.append(token) }
                reader.job.send(to: taken)
                if taken.count < count {
                    isExhausted = true
                    reader.job.exhausted()
                }
                count = reader.job.hasResults ? 0 : Swift.min(reader.job.room, Self.batchMaximum)
            }
        }
    }
}

/// The results of sending to tokens that come over time.
///
/// They are `PushResults` in every other respect, and end with the tokens' own error: if the sequence of tokens throws,
/// the earlier results come first, and then the iteration throws that error.
public struct StreamedPushResults<Tokens: AsyncSequence & Sendable>: AsyncSequence, Sendable
where Tokens.Element == PushToken {
    /// A result.
    public typealias Element = PushResult
    /// The error of the tokens; the pushes themselves throw nothing.
    public typealias Failure = Tokens.Failure

    private let tokens: Tokens
    /// Results that are never read leave no job behind.
    private let makeJob: @Sendable () -> PushJob

    init(tokens: Tokens, makeJob: @escaping @Sendable () -> PushJob) {
        self.tokens = tokens
        self.makeJob = makeJob
    }

    /// Begins to send and to read.
    public func makeAsyncIterator() -> Iterator { Iterator(job: makeJob(), tokens: tokens) }

    /// Reads the results.
    public struct Iterator: AsyncIteratorProtocol {
        private let reader: PushJobReader
        private let ending = TokensEnding<Tokens.Failure>()
        private var batch = PushResultBatch()

        init(job: PushJob, tokens: Tokens) {
            let ending = ending
            let pump = Task {
                do throws(Tokens.Failure) {
                    var iterator = tokens.makeAsyncIterator()
                    while let token = try await iterator.next(isolation: nil) {
                        await job.waitForRoom()
                        guard !job.isCancelled else { break }
                        job.send(to: [token])
                    }
                } catch { ending.failed(error) }
                job.exhausted()
            }
            reader = PushJobReader(job: job, pump: pump)
        }

        /// The next result; nil when every push has ended.
        ///
        /// - Throws: the error with which the tokens ended, once, after the results of all tokens before it.
        public mutating func next(
            isolation: isolated (any Actor)? = #isolation
        ) async throws(Tokens.Failure) -> PushResult? {
            if let result = batch.next() { return result }
            batch = PushResultBatch(await reader.nextResults())
            if let result = batch.next() { return result }
            if let failure = ending.takeFailure() { throw failure }
            return nil
        }
    }
}
