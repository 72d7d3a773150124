public import PushServiceSimulator

/// The properties of a simulator of ADM; of `ServingConfiguration` those count that do not depend on HTTP/2.
public struct ADMSimulatorConfiguration: SimulatorProperties {
    /// The properties that all simulators have.
    public var serving = ServingConfiguration(maxConcurrentStreams: 1)
    /// The secrets of the clients that get access tokens, by client identifier.
    public var clients: [String: String] = [:]
    /// The answers for particular registration IDs.
    public var script = RegistrationScript.empty
    /// How long an access token lives, in seconds.
    public var accessTokenSeconds = 3_600
    /// How the first requests for an access token are answered in place of the right answer, one after the other.
    public var tokenFaults = ADMTokenFaults.none
    /// How many messages are taken in a second; nil for any number, because Amazon tells none.
    public var messagesPerSecondMaximum: Int?
    /// The header `retry-after` of 429, in seconds or as a date; nil for none.
    public var rateRetryAfter: String? = "1"

    /// Creates a configuration of defaults, which knows no client yet.
    public init() {}

    /// Refuses what could not work.
    func validate() throws(SimulatorError) {
        try serving.validate()
        guard (1...43_200).contains(accessTokenSeconds) else {
            throw .configurationInvalid("an access token lives 1 to 43200 seconds, not \(accessTokenSeconds)")
        }
        guard !clients.isEmpty else {
            throw .configurationInvalid("no client is known that could get an access token; name one")
        }
    }
}
