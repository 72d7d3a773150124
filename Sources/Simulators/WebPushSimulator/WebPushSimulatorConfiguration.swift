public import PushServiceSimulator

/// The properties of the simulator: those of Web Push, and, as if they were its own, those of `ServingConfiguration`.
///
/// The port and the faults of `ServingConfiguration` are not used: each origin has its own.
public struct WebPushSimulatorConfiguration: SimulatorProperties {
    /// A push service with an address of its own.
    public struct Origin: Sendable, Hashable {
        /// Its name in records, scripts, faults, and before the hyphen in the names of its subscriptions.
        public var name: String
        /// The profile of its answers.
        public var profile: ServiceProfile
        /// The name of its host; it is in the certificate, and a sender has to find this machine by it.
        public var hostName = "localhost"
        /// The port; 0 for any free one.
        public var port: UInt16 = 0
        /// Whether it speaks HTTP/1.1 and nothing else, in place of HTTP/2.
        public var speaksHTTP1 = false

        /// Describes an origin on any free port of `localhost`, with HTTP/2.
        ///
        /// - Parameters:
        ///   - profile: the profile of its answers.
        ///   - name: its name; nil for that of the profile.
        public init(_ profile: ServiceProfile, name: String? = nil) {
            self.profile = profile
            self.name = name ?? profile.rawValue
        }
    }

    /// The properties that all simulators have.
    public var serving = ServingConfiguration(maxConcurrentStreams: 100)
    /// The push services; one of each profile if nothing is said.
    public var origins = ServiceProfile.allCases.map { Origin($0) }
    /// How many subscriptions each origin has.
    public var subscriptionsPerOrigin = 1_000
    /// The seed of the subscriptions; the same one gives the same keys and paths.
    public var seed: UInt64 = 0
    /// The VAPID key that all subscriptions were made with, as a point of 65 bytes; nil if each is bound to the first
    /// key that a valid push to it has.
    public var applicationServerKey: [UInt8]?
    /// Whether a body that a browser could not decrypt is refused.
    ///
    /// A real service cannot see it, accepts the push, and the browser drops it.
    public var refusesUnreadable = true
    /// The member of a plaintext in JSON that identifies its event, for duplicates; nil to compare whole plaintexts.
    public var eventMember: String?
    /// The answers for particular subscriptions.
    public var script = SubscriptionScript.empty
    /// The deliberate faults of the origins.
    public var webPushFaults = WebPushFaults.none

    /// Creates a configuration of defaults.
    public init() {}

    /// Refuses what could not work.
    func validate() throws(SimulatorError) {
        guard !origins.isEmpty else { throw .configurationInvalid("there is no origin; name at least one") }
        let names = origins.map(\.name)
        for name in names {
            guard (1...32).contains(name.utf8.count), name.utf8.allSatisfy({ $0.isBase64URL && $0 != 45 }) else {
                throw .configurationInvalid(
                    "the origin \"\(name)\" needs a name of 1 to 32 letters, digits and underscores")
            }
        }
        guard Set(names).count == names.count else {
            throw .configurationInvalid("two origins have the same name among \(names.joined(separator: ", "))")
        }
        guard (1...SubscriptionDirectory.countMaximum).contains(subscriptionsPerOrigin) else {
            throw .configurationInvalid(
                "an origin has 1 to \(SubscriptionDirectory.countMaximum) subscriptions, not \(subscriptionsPerOrigin)")
        }
        if let key = applicationServerKey, key.count != 65 || key.first != 4 {
            throw .configurationInvalid(
                "the application server key has \(key.count) bytes; an uncompressed point has 65")
        }
        try webPushFaults.requireOrigins(names)
    }
}
