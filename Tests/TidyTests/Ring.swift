import Foundation

/// The rings of the architecture, from the inside out: the folders of `Sources`.
///
/// Imports point inwards only.
enum Ring: String, CaseIterable, Comparable {
    case cLibraries = "C"
    case mechanism = "Mechanism"
    case core = "Core"
    case adapters = "Adapters"
    case libraries = "Libraries"
    case worker = "Worker"
    case command = "Command"
    /// Beside the rings: the command alone may import a target of it.
    case simulators = "Simulators"

    /// The folders of rings that hold targets of one kind, and are none themselves.
    static let groups: Set<String> = ["PushServices", "Broker", "Registries", "HTTP", "Telemetry"]

    /// The targets of each ring.
    static let members: [Ring: Set<String>] = Dictionary(
        uniqueKeysWithValues: allCases.map { ring in
            let folder = Repository.root.appendingPathComponent("Sources/\(ring.rawValue)").path
            let inGroups = names(in: folder).intersection(groups).flatMap { names(in: "\(folder)/\($0)") }
            return (ring, names(in: folder).subtracting(groups).union(inGroups))
        })

    /// The modules that the core may import besides the standard library: mechanisms that are pure.
    static let importsOfCore: Set<String> = [
        "JSON", "UnicodeText", "Geography", "Prefetching", "Hashing", "Essentials", "Tracing",
        "StructuredLogging", "Messages",
    ]

    /// Imports between members of one ring that are meant: no cycle is among them.
    ///
    /// Adapters have none, but those of push services share the clients.
    static let importsWithin: [String: Set<String>] = [
        "EventLoop": ["Essentials"],
        "Crypto": ["Essentials"],
        "Tracing": ["Essentials"],
        "EncryptedContent": ["Crypto"],
        "HTTP2": ["EventLoop", "Crypto"],
        "AMQP": ["EventLoop", "Essentials", "Messages"],
        "HTTPClient": ["EventLoop", "Essentials"],
        "PostgreSQL": ["EventLoop"],
        "HTTPServer": ["EventLoop", "Essentials", "Crypto"],
        "ServiceManager": ["EventLoop"],
        "APNsTransport": ["ServiceClient"],
        "FCMTransport": ["ServiceClient"],
        "WebPushTransport": ["ServiceClient"],
        "ADMTransport": ["ServiceClient"],
        "APNs": ["PushLibrary"],
        "FCM": ["PushLibrary"],
        "WebPush": ["PushLibrary"],
        "ConnectionPool": ["Notifications"],
        "PredicateIndex": ["Predicates"],
        "ChangeEvents": ["Notifications", "Predicates"],
        "RegistryCore": ["Notifications", "Predicates", "ChangeEvents"],
        "DispatchCore": ["Notifications", "Predicates", "ChangeEvents", "RegistryCore"],
        "Backoffice": ["Notifications", "Predicates", "ChangeEvents", "RegistryCore", "DispatchCore"],
        "SQLiteRegistry": ["RegistrySQL"],
        "PostgresRegistry": ["RegistrySQL"],
        "Dispatcher": ["WorkerConfiguration"],
        "APNsSimulator": ["PushServiceSimulator"],
        "FCMSimulator": ["PushServiceSimulator"],
        "WebPushSimulator": ["PushServiceSimulator"],
        "ADMSimulator": ["PushServiceSimulator"],
    ]

    private static func names(in folder: String) -> Set<String> {
        Set((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
    }

    static func of(_ target: String) -> Ring? {
        members.first { $0.value.contains(target) }?.key
    }

    static func < (left: Ring, right: Ring) -> Bool {
        (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
    }
}
