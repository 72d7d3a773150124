import HTTPServer

/// What is next for a request whose sender is known, or is to be found out.
enum RegistryStep: Sendable {
    /// Nothing: this is the answer.
    case answered(HTTPResponse)
    /// This is done on the loop that reads, and tells what follows.
    case reading(@Sendable (RegistryContext) -> RegistryStep)
    /// This is done on the loop that writes, and tells what follows.
    case writing(@Sendable (RegistryContext) -> RegistryStep)

    /// The last step of a request.
    ///
    /// - Parameters:
    ///   - writes: whether it changes something.
    ///   - work: gives the answer.
    /// - Returns: the step.
    static func last(writes: Bool, _ work: @escaping @Sendable (RegistryContext) -> HTTPResponse) -> RegistryStep {
        writes ? .writing { .answered(work($0)) } : .reading { .answered(work($0)) }
    }

    /// The last step of a request that is on the loop that reads already.
    ///
    /// - Parameters:
    ///   - writes: whether it changes something.
    ///   - context: that of the loop which reads.
    ///   - work: gives the answer.
    /// - Returns: the step, or the answer if it is there.
    static func last(
        writes: Bool, from context: RegistryContext,
        _ work: @escaping @Sendable (RegistryContext) -> HTTPResponse
    ) -> RegistryStep {
        writes ? last(writes: true, work) : .answered(work(context))
    }
}
