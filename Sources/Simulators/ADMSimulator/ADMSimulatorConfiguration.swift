public import Crypto
import EventLoop
import PushServiceSimulator

/// The properties of a simulator of ADM.
public struct ADMSimulatorConfiguration: Sendable {
    /// The address to listen on; without `hostNames` a loopback address, because this is no service for others.
    public var host = "127.0.0.1"
    /// The names by which other machines or containers reach it; they are in the certificate.
    public var hostNames: [String] = []
    /// The port to listen on; 0 means any free one.
    public var port: UInt16 = 0
    /// The certificate and key with which it serves; nil for new ones.
    public var identity: ServerIdentity?
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
    /// How many of the answered messages are kept in memory; further ones are only counted.
    public var recordsInMemoryMaximum = 0
    /// A file that takes a line of JSON for each answered message.
    public var recordFile: String?
    /// The clock by which access tokens age, in milliseconds since 1970.
    public var wallClockMilliseconds: @Sendable () -> Int64 = { WallClock.nowMilliseconds() }

    /// Creates a configuration of defaults, which knows no client yet.
    public init() {}

    /// Refuses what could not work.
    func validate() throws(SimulatorError) {
        guard host == "127.0.0.1" || host == "::1" || host == "localhost" || !hostNames.isEmpty else {
            throw SimulatorError(
                .configurationInvalid,
                "cannot listen on '\(host)': the simulator serves this machine only; use 127.0.0.1 or ::1, or give the "
                    + "name by which other machines reach it")
        }
        guard (1...43_200).contains(accessTokenSeconds) else {
            throw SimulatorError(
                .configurationInvalid, "an access token lives 1 to 43200 seconds, not \(accessTokenSeconds)")
        }
        guard !clients.isEmpty else {
            throw SimulatorError(.configurationInvalid, "no client is known that could get an access token; name one")
        }
    }
}
