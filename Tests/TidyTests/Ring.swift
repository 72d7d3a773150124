/// The rings of the architecture, from the inside out, and who belongs to which.
///
/// Imports point inwards only.
enum Ring: Int, Comparable {
    case cLibraries
    case mechanism
    case core
    case adapters
    case assembly

    static let members: [Ring: Set<String>] = [
        .cLibraries: [
            "CRabbitMQ", "COpenSSL", "CNghttp2", "CCurl", "CSQLite", "CPostgres", "CSimdJSON", "CTOML",
            "CLinux", "CCommandLine", "CUTF8Proc", "CPrefetch",
        ],
        .mechanism: [
            "EventLoop", "Metrics", "JSON", "UnicodeText", "Geography", "TOML", "Crypto", "HTTP2", "AMQP", "HTTPClient",
            "HTTPServer", "Prefetching",
        ],
        .core: ["PushCore"],
        .adapters: [
            "APNsTransport", "ChangeQueue", "SQLiteRegistry", "PostgresRegistry", "RegistryAPI", "AdminServer", "FCM",
        ],
        .assembly: ["Dispatcher", "APNs", "apus"],
    ]

    /// Targets beside the rings, which no target of the worker may import.
    static let support: Set<String> = ["APNsSimulator", "PushTestKit"]

    /// What the core may import besides the standard library: mechanisms that are pure.
    static let importsOfCore: Set<String> = ["JSON", "UnicodeText", "Geography", "Prefetching"]

    /// Imports between members of one ring that are meant.
    ///
    /// Adapters have none.
    static let importsWithin: [String: Set<String>] = [
        "HTTP2": ["EventLoop", "Crypto"],
        "AMQP": ["EventLoop"],
        "HTTPClient": ["EventLoop"],
        "HTTPServer": ["EventLoop", "Crypto"],
        "apus": ["Dispatcher"],
    ]

    static func of(_ target: String) -> Ring? {
        members.first { $0.value.contains(target) }?.key
    }

    static func < (left: Ring, right: Ring) -> Bool {
        left.rawValue < right.rawValue
    }
}
