package import Notifications

/// How a push ended: one of three, which are never confused.
public enum SendOutcome<Rejection: ServiceRejection>: Hashable, Sendable {
    /// The push service has it.
    case accepted
    /// The push service looked at it and does not take it, or the client does not send it there.
    case rejected(Rejection)
    /// There was no answer.
    case failed(PushFailure)

    /// Takes over an outcome of the transport.
    ///
    /// - Parameters:
    ///   - outcome: the outcome.
    ///   - rejection: reads an answer that does not accept the push.
    package init(_ outcome: AttemptOutcome, rejection: (PushAnswer) -> Rejection) {
        self =
            switch outcome {
            case .answered(let answer): answer.status == 200 ? .accepted : .rejected(rejection(answer))
            case .notProcessed(let reason), .unreachable(let reason), .crowdedOut(let reason):
                .failed(.notProcessed(reason))
            case .ambiguous(let reason): .failed(.ambiguous(reason))
            }
    }
}

/// The result of one push to one address.
public protocol SendResult: Hashable, Sendable {
    /// A rejection by the push service.
    associatedtype Rejection: ServiceRejection

    /// How it ended.
    var outcome: SendOutcome<Rejection> { get }
}

extension SendResult {
    /// Whether the push service has it.
    public var isAccepted: Bool { outcome == .accepted }

    /// Whether sending the same message to the same address again may succeed.
    public var isWorthRetrying: Bool {
        switch outcome {
        case .accepted: false
        case .rejected(let rejection): rejection.remedy == .sendLater
        case .failed: true
        }
    }
}

/// The rejection of a push: a push service looked at it and did not take it.
public protocol ServiceRejection: Hashable, Sendable, CustomStringConvertible {
    /// The change that is needed before the push can succeed.
    associatedtype Remedy: RejectionRemedy

    /// The status of the answer.
    var status: Int { get }
    /// The needed change.
    var remedy: Remedy { get }
    /// The shortest wait before another try, as far as it is known.
    var retryAfter: Duration? { get }
}

extension ServiceRejection {
    /// Whether the same push would be rejected again, whatever changes elsewhere.
    public var isPermanent: Bool { remedy != .sendLater && remedy != .correctKey }
}

/// The change that is needed before a rejected push can succeed.
public protocol RejectionRemedy: Hashable, Sendable {
    /// Nothing of the configuration can be sent before its credentials are corrected.
    static var correctKey: Self { get }
    /// Temporary: send it again later.
    static var sendLater: Self { get }
}

extension Disposition {
    /// The shortest wait before another try, if there is one to wait for.
    package var retryAfter: Duration? {
        if case .retry(_, let seconds?) = self { .seconds(seconds) } else { nil }
    }
}
