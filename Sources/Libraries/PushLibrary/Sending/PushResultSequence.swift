import Notifications

/// The results of sending to a sequence of addresses, as they come: in the order of the answers, not of the addresses.
///
/// Sending begins with the iteration, and a second one would send again. Reading a result takes the next addresses, so
/// a lazy sequence is never read further ahead than one window of pushes, however many addresses there are. Leaving the
/// loop, or cancelling its task, sends to no more addresses; pushes in flight at that moment may have arrived.
public struct PushResultSequence<Addresses: Sequence, Element: Sendable>: AsyncSequence
where Addresses.Element: Sendable {
    /// Reading results throws nothing: each result says how its push ended.
    public typealias Failure = Never

    private let addresses: Addresses
    private let call: PushCall<Addresses.Element, Element>

    init(addresses: Addresses, call: PushCall<Addresses.Element, Element>) {
        self.addresses = addresses
        self.call = call
    }

    /// Begins to send and to read.
    public func makeAsyncIterator() -> Iterator { Iterator(addresses: addresses.makeIterator(), call: call) }

    /// Takes addresses and reads the results.
    public struct Iterator: AsyncIteratorProtocol {
        /// The most addresses that are handed over together.
        private static var batchMaximum: Int { 64 }

        private let reader: PushJobReader
        private let call: PushCall<Addresses.Element, Element>
        private var addresses: Addresses.Iterator
        private var isExhausted = false
        private var batch = PushEndingBatch()

        init(addresses: Addresses.Iterator, call: PushCall<Addresses.Element, Element>) {
            reader = PushJobReader(job: call.makeJob())
            self.call = call
            self.addresses = addresses
        }

        /// The next result; nil when every push has ended.
        public mutating func next(isolation: isolated (any Actor)? = #isolation) async -> Element? {
            if let ending = batch.next() { return call.result(ending.token, ending.outcome) }
            fillWindow()
            batch = PushEndingBatch(await reader.nextEndings())
            return batch.next().map { call.result($0.token, $0.outcome) }
        }

        /// Sends as long as the window has room and no result is waiting to be read.
        private mutating func fillWindow() {
            var count = Swift.min(reader.job.room, Self.batchMaximum)
            while !isExhausted, count > 0 {
                var taken: [DeviceToken] = []
                taken.reserveCapacity(count)
                while taken.count < count, let address = addresses.next() { taken.append(call.token(address)) }
                reader.job.send(to: taken)
                if taken.count < count {
                    isExhausted = true
                    reader.job.exhausted()
                }
                count = reader.job.hasEndings ? 0 : Swift.min(reader.job.room, Self.batchMaximum)
            }
        }
    }
}

/// The results of sending to addresses that come over time.
///
/// They are those of `PushResultSequence` in every other respect, and end with the addresses' own error: if the
/// sequence of addresses throws, the earlier results come first, and then the iteration throws that error.
public struct StreamedPushResultSequence<Addresses: AsyncSequence & Sendable, Element: Sendable>: AsyncSequence,
    Sendable
where Addresses.Element: Sendable {
    /// The error of the addresses; the pushes themselves throw nothing.
    public typealias Failure = Addresses.Failure

    private let addresses: Addresses
    private let call: PushCall<Addresses.Element, Element>

    init(addresses: Addresses, call: PushCall<Addresses.Element, Element>) {
        self.addresses = addresses
        self.call = call
    }

    /// Begins to send and to read.
    public func makeAsyncIterator() -> Iterator { Iterator(addresses: addresses, call: call) }

    /// Reads the results.
    public struct Iterator: AsyncIteratorProtocol {
        private let reader: PushJobReader
        private let call: PushCall<Addresses.Element, Element>
        private let ending = AddressesEnding<Addresses.Failure>()
        private var batch = PushEndingBatch()

        init(addresses: Addresses, call: PushCall<Addresses.Element, Element>) {
            let ending = ending
            let job = call.makeJob()
            let pump = Task {
                do throws(Addresses.Failure) {
                    var iterator = addresses.makeAsyncIterator()
                    while let address = try await iterator.next(isolation: nil) {
                        await job.waitForRoom()
                        guard !job.isCancelled else { break }
                        job.send(to: [call.token(address)])
                    }
                } catch { ending.failed(error) }
                job.exhausted()
            }
            reader = PushJobReader(job: job, pump: pump)
            self.call = call
        }

        /// The next result; nil when every push has ended.
        ///
        /// - Throws: the error with which the addresses ended, once, after the results of all addresses before it.
        public mutating func next(
            isolation: isolated (any Actor)? = #isolation
        ) async throws(Addresses.Failure) -> Element? {
            if let ending = batch.next() { return call.result(ending.token, ending.outcome) }
            batch = PushEndingBatch(await reader.nextEndings())
            if let ending = batch.next() { return call.result(ending.token, ending.outcome) }
            if let failure = ending.takeFailure() { throw failure }
            return nil
        }
    }
}
