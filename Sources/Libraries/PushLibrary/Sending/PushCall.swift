package import Notifications

/// One call of a library: sends one message to addresses, and makes its results.
///
/// The parameters are the library's own types: where a push goes, and what became of it.
package struct PushCall<Address: Sendable, Result: Sendable>: Sendable {
    /// Makes the job, which the client retains until it has ended; a call that is never carried out leaves none behind.
    let makeJob: @Sendable () -> PushJob
    /// The address as the transport takes it.
    let token: @Sendable (Address) -> DeviceToken
    /// The result of a push to an address.
    let result: @Sendable (DeviceToken, AttemptOutcome) -> Result

    /// Describes a call.
    ///
    /// - Parameters:
    ///   - order: the common parts of its pushes.
    ///   - sender: sends them.
    ///   - token: the address as the transport takes it.
    ///   - result: makes the result of a push.
    package init(
        _ order: PushOrder, by sender: PushSender, token: @escaping @Sendable (Address) -> DeviceToken,
        result: @escaping @Sendable (DeviceToken, AttemptOutcome) -> Result
    ) {
        makeJob = sender.jobMaker(order)
        self.token = token
        self.result = result
    }

    /// Sends to one address, and waits for its result.
    package func send(to address: Address) async -> Result {
        let token = token(address)
        let outcomes = await makeJob().run([token])
        return result(token, outcomes[0])
    }

    /// Sends to all these addresses, and waits for all results, which come in the order of the addresses.
    package func send(to addresses: [Address]) async -> [Result] {
        let tokens = addresses.map(token)
        return zip(tokens, await makeJob().run(tokens)).map { result($0, $1) }
    }

    /// Sends to addresses as the results are read.
    package func results<Addresses: Sequence>(
        to addresses: Addresses
    ) -> PushResultSequence<Addresses, Result> where Addresses.Element == Address {
        PushResultSequence(addresses: addresses, call: self)
    }

    /// Sends to addresses as they come.
    package func results<Addresses: AsyncSequence & Sendable>(
        to addresses: Addresses
    ) -> StreamedPushResultSequence<Addresses, Result> where Addresses.Element == Address {
        StreamedPushResultSequence(addresses: addresses, call: self)
    }
}
