public import Crypto
import EventLoop

/// The properties of a simulator that do not depend on the push service.
public struct ServingConfiguration: Sendable {
    /// How long answers take.
    public enum Latency: Sendable, Hashable {
        /// They are given at once.
        case none
        /// All take the same time, in milliseconds.
        case fixed(milliseconds: Int)
        /// Each takes a random time, evenly spread, in milliseconds; the same seed gives the same times.
        case uniform(milliseconds: ClosedRange<Int>, seed: UInt64)
    }

    /// The numeric address to listen on; without `hostNames` a loopback address, because this is no service for others.
    public var host = "127.0.0.1"
    /// The names by which other machines or containers reach it; they are in the certificate.
    public var hostNames: [String] = []
    /// The port to listen on; 0 means any free one.
    public var port: UInt16 = 0
    /// Its deliberate faults.
    public var faults = SimulatorFaults.none
    /// The seed of faults that happen by chance.
    public var faultSeed: UInt64 = 0
    /// How long every answer takes.
    public var latency = Latency.none
    /// How many requests may be open at once on a connection of a sender that is known.
    public var maxConcurrentStreams: UInt32
    /// How many bytes of a request's body may be under way.
    public var streamWindowBytes: UInt32 = 65_535
    /// How many bytes of all bodies on one connection may be under way.
    public var connectionWindowBytes: UInt32 = 16 << 20
    /// How many threads serve; connections are dealt out to them in turn.
    public var loopCount = 1
    /// How many connections may be open at once.
    public var connectionsMaximum = 1_024
    /// How many of the answered requests are kept in memory; further ones are only counted.
    public var recordsInMemoryMaximum = 0
    /// A file that takes a line of JSON for each answered request.
    public var recordFile: String?
    /// Whether the lines are added to what the file holds, which is emptied otherwise.
    public var appendsRecords = false
    /// Takes the same lines, whole ones, ten times a second or sooner; called on the threads that serve.
    public var recordHandler: (@Sendable ([UInt8]) -> Void)?
    /// The certificate and key with which it serves; nil for new ones.
    public var identity: ServerIdentity?
    /// Whether every push is accepted unseen: for benchmarks that measure the client and not the simulator.
    public var isTrusting = false
    /// The clock by which credentials age, in milliseconds since 1970.
    public var wallClockMilliseconds: @Sendable () -> Int64 = { WallClock.nowMilliseconds() }

    /// Creates a configuration of defaults.
    ///
    /// - Parameter maxConcurrentStreams: how many requests the push service allows at once on a connection.
    public init(maxConcurrentStreams: UInt32) { self.maxConcurrentStreams = maxConcurrentStreams }

    /// Makes an identity for this machine, which lasts longer than any test or benchmark.
    ///
    /// - Parameters:
    ///   - hostNames: further names in the certificate.
    ///   - nowSeconds: the time, in seconds since 1970.
    /// - Returns: the identity.
    /// - Throws: `CryptoError` if the system has no randomness.
    public static func makeIdentity(
        hostNames: [String] = [], nowSeconds: Int64
    ) throws(CryptoError) -> ServerIdentity {
        try ServerIdentity.selfSigned(
            names: ["localhost", "127.0.0.1", "::1"] + hostNames, notBeforeSeconds: nowSeconds - 86_400,
            notAfterSeconds: nowSeconds + identitySeconds)
    }

    /// How long a certificate lasts, in seconds.
    public static let identitySeconds: Int64 = 30 * 86_400

    /// The identity with which it serves: the given one, or a new one for this machine.
    ///
    /// - Parameter names: names in a new certificate, beside `hostNames`.
    /// - Returns: the identity.
    /// - Throws: `CryptoError` if the system has no randomness.
    public func servingIdentity(naming names: [String] = []) throws(CryptoError) -> ServerIdentity {
        if let identity { return identity }
        return try Self.makeIdentity(hostNames: hostNames + names, nowSeconds: wallClockMilliseconds() / 1_000)
    }

    /// Refuses what could not work.
    ///
    /// - Throws: `SimulatorError` (`configurationInvalid`).
    public func validate() throws(SimulatorError) {
        guard host == "127.0.0.1" || host == "::1" || host == "localhost" || !hostNames.isEmpty else {
            throw .configurationInvalid(
                "cannot listen on '\(host)': the simulator serves this machine only; use 127.0.0.1 or ::1, or give the "
                    + "name by which other machines reach it")
        }
        guard (1...64).contains(loopCount) else {
            throw .configurationInvalid("the number of loops has to be 1 to 64, not \(loopCount)")
        }
        guard (1...1_000_000).contains(maxConcurrentStreams) else {
            throw .configurationInvalid("the number of streams has to be 1 to 1000000")
        }
    }
}

/// The properties of a simulator: those of its service, and, as if they were its own, those of `ServingConfiguration`.
@dynamicMemberLookup
public protocol SimulatorProperties: Sendable {
    /// The properties that all simulators have.
    var serving: ServingConfiguration { get set }
}

extension SimulatorProperties {
    /// A property of `serving`.
    public subscript<Value>(dynamicMember member: WritableKeyPath<ServingConfiguration, Value>) -> Value {
        get { serving[keyPath: member] }
        set { serving[keyPath: member] = newValue }
    }
}
