/// Why something could not be done with a broadcast channel.
public enum ChannelError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The program has to correct something; nothing was sent.
    case invalid(PushError)
    /// APNs answered that it does not do it.
    case rejected(PushRejection)
    /// There was no answer that could be understood.
    case failed(PushFailure)

    /// What is wrong.
    public var description: String {
        switch self {
        case .invalid(let error): error.description
        case .rejected(let rejection): rejection.description
        case .failed(let failure): failure.description
        }
    }
}
