/// How often and how soon a request is sent again.
public struct RetrySettings: Hashable, Sendable {
    /// How often it is sent at most.
    public var attemptsMaximum = 5
    /// The longest first pause, in seconds; each further one is twice as long.
    public var firstPauseSeconds = 1.0
    /// The longest pause, in seconds.
    ///
    /// If the API asks for a longer one, the request fails at once.
    public var pauseSecondsMaximum = 60.0

    /// Creates the defaults.
    public init() {}
}

/// Decides what becomes of one request after each answer; it knows no clock and no network.
///
/// Every operation of the API may be sent again. Pauses grow exponentially and are random between half of that and all
/// of it, so that the apps that a restart of the API disturbed do not come back in one instant. A `Retry-After` is the
/// least.
struct RetryStateMachine {
    enum Step: Hashable {
        /// Ask for another access token, then send.
        case renewAccessToken
        case pause(seconds: Double)
        case succeed
        case fail(RegistrationError.Code)
    }

    /// The answer to a request.
    enum Answer: Hashable {
        case status(Int, code: String?, retryAfterSeconds: Int?)
        case none
    }

    private let settings: RetrySettings
    private var attempts = 1
    private var hasRenewed = false

    init(_ settings: RetrySettings) { self.settings = settings }

    /// Decides after an answer.
    ///
    /// - Parameters:
    ///   - answer: the answer.
    ///   - random: a number of 0 to 1.
    /// - Returns: the next step; after a pause the request is sent.
    mutating func received(_ answer: Answer, random: Double) -> Step {
        switch answer {
        case .none: return pause(after: nil, random: random, otherwise: .unreachable)
        case .status(200..<300, _, _): return .succeed
        case .status(401, _, _):
            guard !hasRenewed else { return .fail(.unauthenticated) }
            hasRenewed = true
            return .renewAccessToken
        case .status(429, _, let retryAfterSeconds):
            return pause(after: retryAfterSeconds, random: random, otherwise: .tooManyRequests)
        case .status(let status, _, let retryAfterSeconds) where status == 408 || status >= 500:
            // 501 and 505 stay as they are.
            guard status != 501, status != 505 else { return .fail(.serverFailed) }
            return pause(after: retryAfterSeconds, random: random, otherwise: .serverFailed)
        case .status(let status, let code, _): return .fail(Self.code(code, of: status))
        }
    }

    /// The kind of a refusal: the API's code, or the meaning of the status if an intermediary answered.
    private static func code(_ text: String?, of status: Int) -> RegistrationError.Code {
        if let code = text.flatMap(RegistrationError.Code.init) { return code }
        switch status {
        case 403: return .forbidden
        case 404: return .notFound
        case 409: return .conflict
        case 413: return .tooLarge
        default: return .invalid
        }
    }

    private mutating func pause(
        after retryAfterSeconds: Int?, random: Double, otherwise code: RegistrationError.Code
    ) -> Step {
        guard attempts < settings.attemptsMaximum else { return .fail(code) }
        let longest = settings.firstPauseSeconds * Double(sign: .plus, exponent: min(attempts - 1, 30), significand: 1)
        let grown = max(0, min(longest, settings.pauseSecondsMaximum))
        let asked = Double(max(0, retryAfterSeconds ?? 0))
        guard asked <= settings.pauseSecondsMaximum else { return .fail(code) }
        attempts += 1
        let jitter = grown * (0.5 + 0.5 * min(max(random, 0), 1))
        return .pause(seconds: retryAfterSeconds == nil ? jitter : asked + jitter)
    }
}
