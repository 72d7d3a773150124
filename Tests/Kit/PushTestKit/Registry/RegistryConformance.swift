import ChangeEvents
import Notifications
public import RegistryCore

/// The requirements for every registry, as checks that any test target can run.
///
/// The checks of `Registry` itself are here, those of its other ports in the namespaces that are named after them. Each
/// check gets a registry of its own that is empty, and throws a `RegistryViolation` if it is not as it should be.
public struct RegistryConformance: Sendable, CustomStringConvertible {
    /// The ports that a registry has.
    public typealias Store = AuditRegistry & CampaignRegistry & CourierRegistry & DeadLetterRegistry
        & EventMemoryRegistry & FanOutRegistry & OutcomeHistoryRegistry & OutcomeOutboxRegistry & PauseRegistry
        & Registry & SubscriptionRegistry & WorkerReportRegistry

    /// The required behaviour, as a sentence.
    public let name: String
    /// Throws if the registry does not do it.
    public let check: @Sendable (any Store) throws -> Void

    /// The sentence, so that a parameterised test shows it.
    public var description: String { name }

    init(_ name: String, _ check: @escaping @Sendable (any Store) throws -> Void) {
        self.name = name
        self.check = check
    }

    /// All checks, of all ports.
    public static let all: [RegistryConformance] =
        deviceChecks + renewalChecks + pruneChecks + addressChecks + tokenChecks + datasetChecks + topicChecks
        + audienceChecks
        + onlyChecks + pagingChecks + SubscriptionConformance.all + FanOutConformance.all + CourierConformance.all
        + DeadLetterConformance.all + OperationsConformance.all + CampaignConformance.all
        + EventMemoryConformance.all + HistoryConformance.all + nameChecks
}

// MARK: Values and steps that the checks share

extension RegistryConformance {
    static let pool = "us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c"

    /// A device with a token made of its name, of an identity unless that is nil.
    static func device(
        _ deviceID: String, token: [UInt8]? = nil, app: String = "chat", identity: String? = "identity:1",
        pool: String = RegistryConformance.pool, user: String? = nil, registeredAt: Int64 = 1_000
    ) throws -> Device {
        guard let token = DeviceToken(bytes: token ?? Array(deviceID.utf8)) else {
            throw RegistryViolation("the check itself made a bad token for \(deviceID)")
        }
        return Device(
            deviceID: deviceID, platform: .apns, token: token, app: app, identityPoolID: identity == nil ? nil : pool,
            identityID: identity, userID: user, registeredAtMilliseconds: registeredAt)
    }

    static func dataset(
        _ name: String, identity: String = "identity:1", pool: String = RegistryConformance.pool
    ) -> DatasetKey {
        DatasetKey(identityPoolID: pool, identityID: identity, datasetName: name)
    }

    static func expect<Value: Equatable>(_ actual: Value, is expected: Value, _ what: String) throws {
        guard actual == expected else {
            throw RegistryViolation("\(what): expected \(expected), found \(actual)")
        }
    }

    static func expect(_ code: RegistryError.Code, _ what: String, from body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as RegistryError {
            try expect(error.code, is: code, what)
            try expect(error.message.isEmpty, is: false, "\(what): the message is empty")
            return
        }
        throw RegistryViolation("\(what): expected the error \(code), and there was none")
    }

    /// The identifiers that one request finds on all its pages, in order.
    static func found(
        _ audience: Audience, in registry: any Registry, excluding excluded: String? = nil, only: [String]? = nil,
        limit: Int = 100
    ) throws -> [String] {
        let request = AudienceRequest(audience: audience, excludedDeviceID: excluded, onlyDeviceIDs: only)
        return try RegistryPages.all(of: request, in: registry, limit: limit).map(\.deviceID)
    }
}

/// A violation of its port by a registry.
public struct RegistryViolation: Error, CustomStringConvertible {
    /// The expected and the actual behaviour.
    public let description: String

    /// Creates a violation.
    public init(_ description: String) {
        self.description = description
    }
}

extension RegistryConformance {
    /// Checks with more devices than a registry can find by looking at all of them.
    public static let withCrowd = [
        RegistryConformance("An identity with 20 000 devices is read in pages, each device once") { registry in
            let count = 20_000
            try registry.register(
                try (0..<count).map { index in
                    DeviceRegistration(
                        device: try device("device-\(index)", identity: "crowd:0"), datasetNames: ["settings"])
                })
            try expect(try registry.deviceCount(), is: count, "the devices")
            let audiences = [
                Audience.dataset(dataset("settings", identity: "crowd:0")), .identities(["crowd:0"], app: "chat"),
            ]
            for audience in audiences {
                let names = try found(audience, in: registry, excluding: "device-7", limit: 999)
                try expect(names.count, is: count - 1, "the devices of \(audience)")
                try expect(Set(names).count, is: count - 1, "different devices of \(audience)")
            }
        }
    ]
}
