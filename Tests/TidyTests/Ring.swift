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
    /// Beside the rings: no target of the worker may import a target of it.
    case support = "Support"

    /// The targets of each ring.
    static let members: [Ring: Set<String>] = Dictionary(
        uniqueKeysWithValues: allCases.map { ring in
            let folder = Repository.root.appendingPathComponent("Sources/\(ring.rawValue)").path
            return (ring, Set((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []))
        })

    /// What the core may import besides the standard library: mechanisms that are pure.
    static let importsOfCore: Set<String> = [
        "JSON", "UnicodeText", "Geography", "Prefetching", "Hashing", "Essentials", "Tracing",
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
        "AMQP": ["EventLoop"],
        "HTTPClient": ["EventLoop", "Essentials"],
        "HTTPServer": ["EventLoop", "Crypto"],
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
        "PushCore": ["Notifications", "Predicates"],
        "APNsSimulator": ["PushServiceSimulator"],
        "FCMSimulator": ["PushServiceSimulator"],
        "WebPushSimulator": ["PushServiceSimulator"],
        "ADMSimulator": ["PushServiceSimulator"],
    ]

    static func of(_ target: String) -> Ring? {
        members.first { $0.value.contains(target) }?.key
    }

    static func < (left: Ring, right: Ring) -> Bool {
        (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
    }
}
