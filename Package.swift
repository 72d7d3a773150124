// swift-tools-version: 6.2
// Apus is licensed under the Apache License, Version 2.0: see the file LICENSE.
import PackageDescription

// The flags of every Swift target. Each upcoming feature makes the compiler refuse something that a reader would
// otherwise have to look for: an unmarked existential, a member that leaks in through a transitive import, an import
// that becomes part of the interface by accident.
let swiftSettings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

// Both `Sources` and `Tests` show the rings of the architecture: `Sources/RING/TARGET`, or `Sources/RING/GROUP/TARGET`.
func swiftTarget(
    _ name: String, in ring: String, _ dependencies: [Target.Dependency], exclude: [String] = [],
    resources: [Resource] = []
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Sources/\(ring)/\(name)", exclude: exclude, resources: resources,
        swiftSettings: swiftSettings)
}

func testTarget(
    _ name: String, in ring: String, _ dependencies: [Target.Dependency], exclude: [String] = []
) -> Target {
    .testTarget(
        name: name, dependencies: dependencies, path: "Tests/\(ring)/\(name)", exclude: exclude,
        swiftSettings: swiftSettings)
}

// Targets for tests and benchmarks alone.
func kitTarget(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, path: "Tests/Kit/\(name)", swiftSettings: swiftSettings)
}

func cLibrary(_ name: String, pkgConfig: String? = nil, package: String) -> Target {
    .systemLibrary(name: name, path: "Sources/C/\(name)", pkgConfig: pkgConfig, providers: [.apt([package])])
}

let package = Package(
    name: "apus",
    // For `ApusClient` alone: the first versions with `Duration`. Everything else is for Linux.
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .executable(name: "apus", targets: ["apus"]),
        .library(name: "APNs", targets: ["APNs"]),
        .library(name: "FCM", targets: ["FCM"]),
        .library(name: "WebPush", targets: ["WebPush"]),
        .library(name: "ApusPublisher", targets: ["ApusPublisher"]),
        // For apps: builds without C libraries, also on Apple's platforms.
        .library(name: "ApusClient", targets: ["ApusClient"]),
        // For tests: loaded into a process before the C library, so that system calls fail.
        .library(name: "CallFaults", type: .dynamic, targets: ["CallFaults"]),
        // For benchmarks: put in front of the C library's own functions by LD_PRELOAD, never linked.
        .library(name: "allocation-counter", type: .dynamic, targets: ["AllocationCounter"]),
        .library(name: "stopped-clock", type: .dynamic, targets: ["StoppedClock"]),
        // For the package in `Tests/Fuzz/` only.
        .library(
            name: "ApusInternals",
            targets: [
                "EventLoop", "Metrics", "Crypto", "HTTP2", "HTTPServer", "AMQP", "ChangeQueue", "JSON", "TOML",
                "EncryptedContent", "WebPushTransport", "UnicodeText", "Geography", "ChangeEvents", "RegistryCore",
                "DispatchCore", "Backoffice", "RegistrySQL", "SQLiteRegistry",
                "PostgreSQL", "PostgresRegistry", "ServiceClient",
                "APNsTransport", "FCMTransport", "ADMTransport", "Hashing",
                "Essentials", "StructuredLogging", "Messages", "Notifications", "ConnectionPool", "Predicates",
                "PredicateIndex",
                "RegistryAPI", "WorkerConfiguration", "Dispatcher", "PushServiceSimulator", "APNsSimulator",
                "FCMSimulator",
                "PushTestKit", "Tracing", "TraceExport",
            ]
        ),
        // For `Tests/Fuzz/` as well: a product with a system library can hold nothing else.
        .library(name: "CRabbitMQ", targets: ["CRabbitMQ"]),
    ],
    targets: [
        // Ring 0: C libraries, each imported by exactly one Swift target.
        .target(name: "CLinux", path: "Sources/C/CLinux"),
        .target(name: "CCommandLine", path: "Sources/C/CCommandLine"),
        .target(name: "COperatorPage", path: "Sources/C/COperatorPage", exclude: ["web"]),
        cLibrary("CRabbitMQ", pkgConfig: "librabbitmq", package: "librabbitmq-dev"),
        cLibrary("COpenSSL", pkgConfig: "openssl", package: "libssl-dev"),
        cLibrary("CNghttp2", pkgConfig: "libnghttp2", package: "libnghttp2-dev"),
        cLibrary("CCurl", pkgConfig: "libcurl", package: "libcurl4-openssl-dev"),
        cLibrary("CSQLite", pkgConfig: "sqlite3", package: "libsqlite3-dev"),
        cLibrary("CPostgres", pkgConfig: "libpq", package: "libpq-dev"),
        .target(name: "CSimdJSON", path: "Sources/C/CSimdJSON", linkerSettings: [.linkedLibrary("simdjson")]),
        .target(name: "CTOML", path: "Sources/C/CTOML"),
        // Without its pkg-config file, whose -D flag the package manager refuses with a warning.
        cLibrary("CUTF8Proc", package: "libutf8proc-dev"),
        .systemLibrary(name: "CPrefetch", path: "Sources/C/CPrefetch"),

        // Ring 1: mechanism, no word of the domain.
        swiftTarget("EventLoop", in: "Mechanism", ["CLinux", "Essentials"]),
        swiftTarget("PostgreSQL", in: "Mechanism", ["EventLoop", "CPostgres"]),
        // Levels, event names and fields; named so that a program may use swift-log's module Logging beside it.
        swiftTarget("StructuredLogging", in: "Mechanism", []),
        // The values of AMQP 0-9-1.
        swiftTarget("Messages", in: "Mechanism", []),
        swiftTarget("Metrics", in: "Mechanism", []),
        swiftTarget("Hashing", in: "Mechanism", []),
        swiftTarget("Essentials", in: "Mechanism", []),
        swiftTarget("Tracing", in: "Mechanism", ["Essentials"]),
        swiftTarget("JSON", in: "Mechanism", ["CSimdJSON"]),
        swiftTarget("UnicodeText", in: "Mechanism", ["CUTF8Proc"]),
        swiftTarget("Geography", in: "Mechanism", []),
        swiftTarget("Prefetching", in: "Mechanism", ["CPrefetch"]),
        swiftTarget("TOML", in: "Mechanism", ["CTOML"]),
        swiftTarget("Crypto", in: "Mechanism", ["COpenSSL", "Essentials"]),
        swiftTarget("EncryptedContent", in: "Mechanism", ["Crypto"]),
        swiftTarget("HTTP2", in: "Mechanism", ["CNghttp2", "EventLoop", "Crypto"]),
        swiftTarget("AMQP", in: "Mechanism", ["CRabbitMQ", "EventLoop", "Messages", "Essentials"]),
        swiftTarget("HTTPServer", in: "Mechanism", ["EventLoop", "Crypto", "Essentials"]),
        swiftTarget("HTTPClient", in: "Mechanism", ["CCurl", "EventLoop", "Essentials"]),
        swiftTarget("ServiceManager", in: "Mechanism", ["EventLoop"]),

        // Ring 2: the core. Pure values and state machines.
        swiftTarget("Notifications", in: "Core", ["JSON", "Hashing", "Essentials"]),
        swiftTarget("ConnectionPool", in: "Core", ["Notifications", "Essentials"]),
        swiftTarget("Predicates", in: "Core", ["JSON", "UnicodeText", "Geography", "Essentials"]),
        swiftTarget(
            "PredicateIndex", in: "Core",
            ["Predicates", "Hashing", "Prefetching", "Geography", "UnicodeText", "Essentials"]),
        // The needs of a load, from measured costs: for `apus plan`, and for the benchmarks that check it.
        swiftTarget("CapacityModel", in: "Core", []),
        // The messages of the broker, and the events that backends publish in them.
        swiftTarget(
            "ChangeEvents", in: "Core",
            ["JSON", "Essentials", "Geography", "Notifications", "Predicates", "Messages", "Hashing", "Tracing"]),
        // Devices, subscriptions and all else that a registry keeps; its ports.
        swiftTarget(
            "RegistryCore", in: "Core",
            ["JSON", "Essentials", "Notifications", "Predicates", "ChangeEvents", "Geography", "Hashing", "Messages"]),
        // From a delivery to its settling: the state machines of a worker.
        swiftTarget(
            "DispatchCore", in: "Core",
            ["Essentials", "Notifications", "ChangeEvents", "RegistryCore", "Hashing", "JSON", "Messages", "Tracing"]),
        // Views of pushes from outside: status, explanations, dead letters, campaigns, webhooks.
        swiftTarget(
            "Backoffice", in: "Core",
            [
                "Essentials", "ChangeEvents", "RegistryCore", "DispatchCore", "Hashing", "JSON", "Messages",
                "Notifications", "Predicates",
            ]),

        // Ring 3: adapters, one port of the core each; they do not import each other.
        // The HTTP/2 client, which the adapters of push services share.
        swiftTarget(
            "ServiceClient", in: "Adapters/PushServices",
            [
                "EventLoop", "Metrics", "Crypto", "HTTP2", "HTTPClient", "JSON", "Essentials", "Notifications",
                "ConnectionPool", "StructuredLogging",
            ]),
        swiftTarget(
            "APNsTransport", in: "Adapters/PushServices",
            [
                "ServiceClient", "EventLoop", "Metrics", "Crypto", "HTTP2", "JSON", "Essentials", "Notifications",
                "ConnectionPool", "StructuredLogging",
            ]),
        swiftTarget(
            "ADMTransport", in: "Adapters/PushServices",
            ["ServiceClient", "Metrics", "HTTPClient", "JSON", "Essentials", "Notifications", "StructuredLogging"]),
        swiftTarget(
            "FCMTransport", in: "Adapters/PushServices",
            [
                "ServiceClient", "EventLoop", "Crypto", "HTTP2", "JSON", "Essentials", "Notifications",
                "ConnectionPool",
            ]),
        swiftTarget(
            "WebPushTransport", in: "Adapters/PushServices",
            [
                "ServiceClient", "EventLoop", "Metrics", "Crypto", "EncryptedContent", "HTTP2", "JSON", "Essentials",
                "Notifications", "ConnectionPool", "HTTPClient", "StructuredLogging",
            ]),
        swiftTarget(
            "ChangeQueue", in: "Adapters/Broker",
            [
                "EventLoop", "Metrics", "AMQP", "Crypto", "HTTPClient", "JSON", "Essentials",
                "StructuredLogging", "Messages", "Backoffice", "ChangeEvents", "DispatchCore", "RegistryCore",
            ],
            exclude: ["README.md"]),
        // The common part of the registries in SQL databases: rows, columns, migrations.
        swiftTarget(
            "RegistrySQL", in: "Adapters/Registries",
            ["RegistryCore", "Notifications", "ChangeEvents", "Essentials", "JSON", "Messages", "Predicates"]),
        swiftTarget(
            "SQLiteRegistry", in: "Adapters/Registries",
            ["CSQLite", "Essentials", "Notifications", "Predicates", "ChangeEvents", "RegistryCore", "RegistrySQL"]),
        swiftTarget("AdminServer", in: "Adapters/HTTP", ["JSON", "HTTPServer", "Metrics"]),
        swiftTarget(
            "TraceExport", in: "Adapters/Telemetry",
            ["Tracing", "EventLoop", "HTTPClient", "Metrics", "Essentials", "StructuredLogging"]),
        // Posts outcomes to the backends of apps.
        swiftTarget(
            "Webhooks", in: "Adapters",
            [
                "EventLoop", "HTTPClient", "Crypto", "Metrics", "Essentials", "StructuredLogging",
                "Messages", "Backoffice", "ChangeEvents",
            ]),
        swiftTarget(
            "Relay", in: "Adapters",
            [
                "PostgreSQL", "EventLoop", "Metrics", "Essentials", "StructuredLogging", "Messages", "Notifications",
                "ChangeEvents", "DispatchCore",
            ], resources: [.embedInCode("outbox.sql"), .embedInCode("watch.sql")]),
        swiftTarget(
            "OperatorPage", in: "Adapters/HTTP",
            [
                "COperatorPage", "EventLoop", "Crypto", "JSON", "HTTPServer", "Essentials", "Notifications",
                "Predicates", "StructuredLogging", "Messages", "Backoffice", "ChangeEvents", "DispatchCore",
                "RegistryCore",
            ]),
        swiftTarget(
            "PostgresRegistry", in: "Adapters/Registries",
            [
                "PostgreSQL", "Essentials", "Notifications", "ChangeEvents", "DispatchCore", "RegistryCore",
                "RegistrySQL",
            ]),
        swiftTarget(
            "RegistryAPI", in: "Adapters/HTTP",
            [
                "EventLoop", "Metrics", "Crypto", "JSON", "HTTPServer", "Essentials", "Notifications", "Predicates",
                "StructuredLogging", "Messages", "ChangeEvents", "DispatchCore", "RegistryCore", "Backoffice",
            ],
            exclude: ["README.md"], resources: [.embedInCode("Native/openapi.json")]),

        // Ring 4: assembly.
        // The common part of the libraries. Each re-exports it, so that a program imports the library alone.
        swiftTarget(
            "PushLibrary", in: "Libraries", ["ServiceClient", "Notifications", "ConnectionPool", "StructuredLogging"]),
        swiftTarget(
            "APNs", in: "Libraries",
            [
                "PushLibrary", "APNsTransport", "ServiceClient", "Metrics", "Crypto", "Notifications", "ConnectionPool",
                "StructuredLogging",
            ]),
        swiftTarget(
            "FCM", in: "Libraries",
            [
                "PushLibrary", "FCMTransport", "ServiceClient", "Metrics", "JSON", "Notifications", "ConnectionPool",
                "StructuredLogging",
            ]),
        swiftTarget(
            "WebPush", in: "Libraries",
            [
                "PushLibrary", "WebPushTransport", "ServiceClient", "Metrics", "Crypto", "EncryptedContent",
                "Essentials", "Notifications", "ConnectionPool", "StructuredLogging",
            ]),
        // Runs on devices, so it depends on nothing here.
        swiftTarget("ApusClient", in: "Libraries", []),
        swiftTarget(
            "ApusPublisher", in: "Libraries",
            [
                "ChangeQueue", "EventLoop", "Metrics", "JSON", "Notifications", "Essentials", "Messages",
                "StructuredLogging", "ChangeEvents", "DispatchCore",
            ]),
        // The keys, sections and defaults of the configuration.
        swiftTarget(
            "WorkerConfiguration", in: "Worker",
            [
                "TOML", "ChangeEvents", "ChangeQueue", "Crypto", "Essentials", "EventLoop", "FCMTransport",
                "HTTPClient", "JSON", "Notifications", "OperatorPage", "PostgreSQL", "Predicates", "RegistryAPI",
                "RegistryCore", "ServiceClient", "StructuredLogging", "WebPushTransport", "Webhooks",
            ]),
        swiftTarget(
            "Dispatcher", in: "Worker",
            [
                "EventLoop", "Metrics", "JSON", "Crypto", "ServiceClient", "APNsTransport", "FCMTransport",
                "ADMTransport", "WebPushTransport", "ChangeQueue", "SQLiteRegistry", "PostgresRegistry", "AdminServer",
                "OperatorPage", "HTTPServer", "HTTPClient", "RegistryAPI", "TraceExport", "Tracing", "Relay",
                "Webhooks",
                "Essentials", "Notifications", "ConnectionPool", "PredicateIndex", "StructuredLogging", "Messages",
                "Backoffice", "ChangeEvents", "DispatchCore", "RegistryCore", "WorkerConfiguration",
            ]
        ),
        .executableTarget(
            name: "apus",
            dependencies: [
                "CCommandLine", "Dispatcher", "AdminServer", "OperatorPage", "RegistryAPI", "EventLoop", "Metrics",
                "JSON", "ServiceClient", "APNsTransport", "FCMTransport", "ADMTransport", "WebPushTransport",
                "ChangeQueue", "SQLiteRegistry", "PostgresRegistry", "PushServiceSimulator", "APNsSimulator",
                "FCMSimulator", "ADMSimulator", "WebPushSimulator", "LoadGenerator", "TOML", "Essentials",
                "Notifications", "Predicates", "Crypto", "CapacityModel", "HTTPClient", "ServiceManager", "TraceExport",
                "Webhooks", "StructuredLogging", "Messages", "Backoffice", "ChangeEvents", "DispatchCore",
                "RegistryCore", "Relay", "WorkerConfiguration",
            ],
            path: "Sources/Command/apus",
            swiftSettings: swiftSettings
        ),

        // The phones of the tutorial, each a process.
        .executableTarget(
            name: "chat-client", dependencies: ["ApusClient"], path: "deploy/chat/Client",
            swiftSettings: swiftSettings),

        // Beside the rings: shipped with the command, never seen by the worker's targets.
        // The common part of the simulators of push services: connections, faults, scripts, records.
        swiftTarget(
            "PushServiceSimulator", in: "Simulators",
            ["EventLoop", "Crypto", "HTTP2", "HTTPServer", "JSON", "Essentials"]),
        swiftTarget(
            "APNsSimulator", in: "Simulators",
            ["PushServiceSimulator", "Crypto", "HTTP2", "JSON", "Essentials", "Notifications"]),
        swiftTarget(
            "FCMSimulator", in: "Simulators",
            ["PushServiceSimulator", "HTTPServer", "Crypto", "JSON", "Hashing", "Essentials"]),
        swiftTarget(
            "WebPushSimulator", in: "Simulators",
            [
                "PushServiceSimulator", "EncryptedContent", "HTTPServer", "EventLoop", "Crypto", "JSON", "Hashing",
                "Essentials",
            ]),
        swiftTarget(
            "ADMSimulator", in: "Simulators",
            ["PushServiceSimulator", "HTTPServer", "EventLoop", "Crypto", "JSON", "Hashing"]),
        // The arrivals, events, books and reports of `apus load`: values only.
        swiftTarget("LoadGenerator", in: "Simulators", ["JSON", "Essentials"]),
        kitTarget(
            "PushTestKit",
            [
                "AMQP", "Geography", "EventLoop", "Essentials", "Notifications", "Predicates", "JSON",
                "StructuredLogging", "Messages", "ChangeEvents", "DispatchCore", "RegistryCore", "RegistrySQL",
            ]),

        // Workers, broker, registry and push service in one thread and in a time of their own: `Tests/Simulation`.
        kitTarget(
            "WorkerSimulation",
            [
                "Notifications", "Predicates", "Essentials", "Hashing", "Dispatcher", "Metrics", "Messages",
                "StructuredLogging", "Backoffice", "ChangeEvents", "DispatchCore", "RegistryCore",
            ]),

        .target(name: "CallFaults", path: "Tests/Kit/CallFaults", linkerSettings: [.linkedLibrary("dl")]),
        // For `make sanitize`: tells ThreadSanitizer of locks that it does not see.
        .target(name: "ThreadSanitizer", path: "Tests/Kit/ThreadSanitizer", linkerSettings: [.linkedLibrary("dl")]),
        testTarget(
            "PushTestKitTests", in: "Kit",
            ["PushTestKit", "EventLoop", "CallFaults", "ThreadSanitizer", "Messages"]),
        testTarget("EventLoopTests", in: "Mechanism", ["EventLoop", "PushTestKit", "CLinux"]),
        testTarget("MetricsTests", in: "Mechanism", ["Metrics"]),
        testTarget("JSONTests", in: "Mechanism", ["JSON", "PushTestKit"]),
        testTarget("TOMLTests", in: "Mechanism", ["TOML", "PushTestKit"]),
        testTarget("CryptoTests", in: "Mechanism", ["Crypto", "PushTestKit", "Essentials"]),
        testTarget(
            "EncryptedContentTests", in: "Mechanism", ["EncryptedContent", "Crypto", "Essentials", "PushTestKit"]),
        testTarget("HTTP2Tests", in: "Mechanism", ["HTTP2", "Crypto", "EventLoop", "PushTestKit", "CNghttp2"]),
        testTarget("AMQPTests", in: "Mechanism", ["AMQP", "CRabbitMQ", "EventLoop", "PushTestKit", "Messages"]),
        // Traits of suites, for the test framework.
        .target(name: "TestTraits", path: "Tests/Kit/TestTraits", swiftSettings: swiftSettings),
        // A plain client of HTTP/2, for the tests of the simulators.
        .target(
            name: "SimulatorTestClient", dependencies: ["HTTP2", "Crypto", "EventLoop", "PushTestKit"],
            path: "Tests/Kit/SimulatorTestClient", swiftSettings: swiftSettings),
        testTarget(
            "HTTPServerTests", in: "Mechanism", ["HTTPServer", "Crypto", "EventLoop", "PushTestKit", "TestTraits"]),
        testTarget(
            "HTTPClientTests", in: "Mechanism", ["HTTPClient", "HTTPServer", "EventLoop", "Crypto", "PushTestKit"]),
        testTarget("ServiceManagerTests", in: "Mechanism", ["ServiceManager", "EventLoop", "PushTestKit"]),
        testTarget("HashingTests", in: "Mechanism", ["Hashing", "Crypto", "PushTestKit"]),
        testTarget("EssentialsTests", in: "Mechanism", ["Essentials", "JSON", "PushTestKit", "Notifications"]),
        testTarget(
            "TracingTests", in: "Mechanism", ["Tracing", "PushTestKit"], exclude: ["Scripts"]),
        testTarget("NotificationsTests", in: "Core", ["Notifications", "JSON", "PushTestKit"]),
        testTarget(
            "ConnectionPoolTests", in: "Core",
            ["ConnectionPool", "PushTestKit", "Notifications", "Essentials"]),
        testTarget(
            "PredicatesTests", in: "Core",
            [
                "Predicates", "JSON", "UnicodeText", "Geography", "PushTestKit", "Notifications",
                "RegistryCore",
            ]),
        testTarget(
            "PredicateIndexTests", in: "Core", ["PredicateIndex", "Predicates", "Geography", "PushTestKit"]),
        testTarget("CapacityModelTests", in: "Core", ["CapacityModel", "PushTestKit"]),
        testTarget(
            "ChangeEventsTests", in: "Core",
            [
                "ChangeEvents", "PushTestKit", "DispatchCore", "Essentials", "JSON", "Messages", "Notifications",
                "Predicates", "RegistryCore", "Tracing", "Backoffice", "Geography",
            ]),
        testTarget(
            "RegistryCoreTests", in: "Core",
            ["RegistryCore", "PushTestKit", "ChangeEvents", "Crypto", "Essentials", "Notifications", "Predicates"]),
        testTarget(
            "DispatchCoreTests", in: "Core",
            [
                "DispatchCore", "PushTestKit", "Backoffice", "ChangeEvents", "Essentials", "JSON", "Messages",
                "Notifications", "Predicates", "RegistryCore", "Tracing",
            ]),
        testTarget(
            "BackofficeTests", in: "Core",
            [
                "Backoffice", "PushTestKit", "ChangeEvents", "DispatchCore", "Essentials", "JSON", "Messages",
                "Notifications", "RegistryCore",
            ]),
        testTarget(
            "APNsTransportTests", in: "Adapters/PushServices",
            [
                "ServiceClient", "APNsTransport", "PushServiceSimulator", "APNsSimulator", "Crypto", "HTTP2",
                "EventLoop", "Metrics", "PushTestKit", "Notifications", "ConnectionPool", "Essentials",
            ]),
        testTarget(
            "ServiceClientTests", in: "Adapters/PushServices",
            [
                "ServiceClient", "HTTPClient", "HTTPServer", "Crypto", "Metrics", "Essentials", "PushTestKit",
                "Notifications", "StructuredLogging",
            ]),
        testTarget(
            "ADMTransportTests", in: "Adapters/PushServices",
            [
                "ADMTransport", "ADMSimulator", "PushServiceSimulator", "ServiceClient", "HTTPClient", "Essentials",
                "Metrics", "PushTestKit",
                "Notifications", "StructuredLogging",
            ]),
        testTarget(
            "APNsTests", in: "Libraries", ["APNs", "APNsSimulator", "PushServiceSimulator", "Crypto", "PushTestKit"]),
        testTarget(
            "FCMTests", in: "Libraries",
            ["FCM", "FCMSimulator", "PushServiceSimulator", "PushTestKit"]),
        testTarget(
            "WebPushTests", in: "Libraries",
            [
                "WebPush", "APNs", "FCM", "WebPushSimulator", "FCMSimulator", "PushServiceSimulator",
                "Crypto", "PushTestKit",
            ]),
        testTarget(
            "ApusPublisherTests", in: "Libraries",
            [
                "ApusPublisher", "ChangeQueue", "Notifications", "Predicates", "Essentials", "Metrics",
                "CSQLite", "PushTestKit", "Messages", "StructuredLogging", "ChangeEvents",
            ]),
        testTarget(
            "ApusClientTests", in: "Libraries",
            [
                "ApusClient", "Notifications", "Predicates", "JSON", "PushTestKit", "RegistryAPI",
                "SQLiteRegistry", "Metrics", "TestTraits", "Messages", "StructuredLogging", "ChangeEvents",
                "RegistryCore",
            ]),
        testTarget(
            "PushServiceSimulatorTests", in: "Simulators", ["PushServiceSimulator", "JSON", "PushTestKit"]),
        testTarget(
            "FCMTransportTests", in: "Adapters/PushServices",
            [
                "ServiceClient", "FCMTransport", "PushServiceSimulator", "FCMSimulator", "Crypto", "Metrics",
                "PushTestKit", "Notifications", "ConnectionPool", "Essentials",
            ]),
        testTarget(
            "WebPushTransportTests", in: "Adapters/PushServices",
            [
                "WebPushTransport", "ServiceClient", "EncryptedContent", "PushServiceSimulator", "Crypto", "HTTP2",
                "EventLoop", "Metrics", "Essentials", "JSON", "Notifications", "ConnectionPool", "PushTestKit",
                "StructuredLogging",
            ],
            exclude: ["Scripts"]),
        testTarget(
            "APNsSimulatorTests", in: "Simulators",
            [
                "APNsSimulator", "PushServiceSimulator", "SimulatorTestClient", "Crypto", "EventLoop", "JSON",
                "PushTestKit", "Essentials",
            ]),
        testTarget(
            "FCMSimulatorTests", in: "Simulators",
            [
                "FCMSimulator", "PushServiceSimulator", "SimulatorTestClient", "Crypto", "EventLoop", "JSON",
                "PushTestKit", "Essentials", "TestTraits",
            ], exclude: ["Scripts"]),
        testTarget(
            "WebPushSimulatorTests", in: "Simulators",
            [
                "WebPushSimulator", "PushServiceSimulator", "SimulatorTestClient", "EncryptedContent", "Crypto",
                "EventLoop", "JSON", "PushTestKit", "Essentials", "TestTraits", "RegistryAPI", "Notifications",
            ], exclude: ["Scripts"]),
        testTarget(
            "ADMSimulatorTests", in: "Simulators",
            ["ADMSimulator", "PushServiceSimulator", "HTTPServer", "JSON", "PushTestKit"]),
        testTarget(
            "LoadGeneratorTests", in: "Simulators",
            ["LoadGenerator", "JSON", "PushTestKit", "Notifications", "Messages", "ChangeEvents"]),
        testTarget(
            "ChangeQueueTests", in: "Adapters/Broker",
            [
                "ChangeQueue", "JSON", "AMQP", "EventLoop", "Metrics", "PushTestKit", "SQLiteRegistry", "Notifications",
                "StructuredLogging", "Messages", "Backoffice", "ChangeEvents", "DispatchCore", "RegistryCore",
                "RegistrySQL",
            ]),
        testTarget(
            "SQLiteRegistryTests", in: "Adapters/Registries",
            ["SQLiteRegistry", "PushTestKit", "Notifications", "ChangeEvents", "RegistryCore", "RegistrySQL"]),
        testTarget(
            "RegistryAPITests", in: "Adapters/HTTP",
            [
                "RegistryAPI", "HTTPServer", "SQLiteRegistry", "PostgreSQL", "PostgresRegistry", "CPostgres", "Crypto",
                "JSON", "Metrics", "EventLoop", "PushTestKit", "Essentials", "Notifications", "Predicates",
                "TestTraits",
                "StructuredLogging", "ChangeEvents", "RegistryCore", "RegistrySQL",
            ], exclude: ["Scripts"]),
        testTarget(
            "PostgresRegistryTests", in: "Adapters/Registries",
            [
                "PostgreSQL", "PostgresRegistry", "SQLiteRegistry", "EventLoop", "PushTestKit", "Notifications",
                "Messages", "Backoffice", "ChangeEvents", "DispatchCore", "RegistryCore", "RegistrySQL",
            ]),
        testTarget(
            "RelayTests", in: "Adapters",
            [
                "Relay", "PostgreSQL", "ChangeQueue", "ChangeEvents", "DispatchCore", "Messages", "Metrics",
                "StructuredLogging", "Essentials", "Notifications", "Predicates", "Geography", "PushTestKit",
            ]),
        testTarget(
            "TraceExportTests", in: "Adapters/Telemetry",
            ["TraceExport", "Tracing", "HTTPServer", "HTTPClient", "Crypto", "Metrics", "Essentials", "PushTestKit"]),
        testTarget(
            "WebhooksTests", in: "Adapters",
            [
                "Webhooks", "ChangeQueue", "HTTPClient", "HTTPServer", "Crypto", "EventLoop", "Metrics",
                "Essentials", "PushTestKit", "StructuredLogging", "Messages", "ChangeEvents",
            ]),
        testTarget(
            "AdminServerTests", in: "Adapters/HTTP",
            ["AdminServer", "HTTPServer", "Metrics", "PushTestKit", "TestTraits"]),
        testTarget(
            "OperatorPageTests", in: "Adapters/HTTP",
            [
                "OperatorPage", "AdminServer", "HTTPServer", "SQLiteRegistry", "Notifications", "Crypto",
                "JSON", "Essentials", "Predicates", "PushTestKit", "Messages", "StructuredLogging", "Backoffice",
                "ChangeEvents", "DispatchCore", "RegistryCore", "RegistrySQL",
            ]),
        testTarget(
            "DispatcherTests", in: "Worker",
            [
                "ServiceClient", "APNsTransport", "Dispatcher", "FCMSimulator", "EventLoop", "Metrics",
                "SQLiteRegistry", "JSON", "Crypto", "PushTestKit", "Essentials", "Notifications", "Predicates",
                "Webhooks", "ChangeQueue", "StructuredLogging", "Messages", "ChangeEvents", "DispatchCore",
                "RegistryCore", "RegistrySQL", "Backoffice", "HTTPClient", "OperatorPage", "WorkerConfiguration",
            ]
        ),
        testTarget(
            "EndToEndTests", in: "Command",
            [
                "ApusPublisher", "ChangeQueue", "PushServiceSimulator", "APNsSimulator", "FCMSimulator",
                "ADMSimulator", "WebPushSimulator", "SQLiteRegistry", "AMQP", "JSON", "EventLoop", "Crypto", "Metrics",
                "PushTestKit", "Notifications", "Predicates", "HTTPServer", "Messages", "StructuredLogging",
                "ChangeEvents", "DispatchCore", "RegistryCore", "RegistrySQL",
            ], exclude: ["Scripts"]
        ),
        // The ledger proof: a program of its own, run by `make fault` and, in its short form, by the tests.
        .executableTarget(
            name: "FaultLedger",
            dependencies: [
                "AMQP", "ChangeQueue", "EventLoop", "JSON", "PushTestKit", "PushServiceSimulator", "APNsSimulator",
                "FCMSimulator", "WebPushSimulator", "Crypto", "Notifications", "Messages", "Backoffice",
            ],
            path: "Tests/FaultLedger",
            swiftSettings: swiftSettings
        ),
        // Runs the simulation of workers for long: `make simulate`.
        .executableTarget(
            name: "worker-simulation", dependencies: ["WorkerSimulation", "EventLoop"], path: "Tests/Simulation",
            swiftSettings: swiftSettings),
        // For `make soak`: the worker's part in what clients of the courier fetch.
        .executableTarget(
            name: "courier-depositor",
            dependencies: [
                "EventLoop", "SQLiteRegistry", "PostgresRegistry", "Notifications", "RegistryCore",
            ],
            path: "Tests/HostileLoads/Depositor",
            swiftSettings: swiftSettings
        ),
        // The program of `make bench`. `bare-consumer` is the reference for the worker: the least that a consumer in C
        // can do with the same queue, prefetch and acknowledgements.
        .executableTarget(
            name: "apus-benchmarks",
            dependencies: [
                "EventLoop", "Metrics", "Crypto", "SQLiteRegistry", "PostgresRegistry", "ServiceClient",
                "APNsTransport", "FCMTransport", "WebPushTransport", "Dispatcher", "Geography", "PushTestKit",
                "Notifications", "ConnectionPool", "Predicates", "PredicateIndex", "Essentials", "CapacityModel",
                "JSON", "Hashing", "PushServiceSimulator", "APNsSimulator", "Messages", "StructuredLogging",
                "ChangeEvents", "DispatchCore", "RegistryCore",
            ],
            path: "Benchmarks/Sources/ApusBenchmarks",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "bare-consumer", path: "Benchmarks/Sources/BareConsumer",
            linkerSettings: [.linkedLibrary("rabbitmq"), .linkedLibrary("sqlite3")]),
        // The reference for the relay in the same way.
        .executableTarget(
            name: "bare-publisher", path: "Benchmarks/Sources/BarePublisher",
            linkerSettings: [.linkedLibrary("rabbitmq")]),
        .target(name: "AllocationCounter", path: "Benchmarks/Sources/AllocationCounter"),
        .target(name: "StoppedClock", path: "Benchmarks/Sources/StoppedClock"),
        testTarget("BenchmarkTests", in: "Kit", ["apus-benchmarks", "PushTestKit"]),
        testTarget("FaultLedgerTests", in: "Kit", ["FaultLedger", "PushTestKit", "JSON", "Notifications"]),
        testTarget(
            "WorkerSimulationTests", in: "Kit",
            [
                "WorkerSimulation", "worker-simulation", "PushTestKit", "Notifications", "Essentials",
                "Predicates", "ChangeEvents", "DispatchCore", "RegistryCore",
            ]),
        // The targets of `make fuzz`, which replay their corpus here; `Tests/Fuzz` is a package of its own as well.
        .testTarget(
            name: "FuzzTests",
            dependencies: [
                "AMQP", "ServiceClient", "APNsTransport", "FCMTransport", "ADMTransport", "WebPushTransport",
                "EncryptedContent", "CRabbitMQ", "ChangeQueue", "Crypto", "Dispatcher", "EventLoop", "HTTPServer",
                "JSON", "Metrics", "PushTestKit", "RegistryAPI", "SQLiteRegistry", "TOML", "Notifications",
                "ConnectionPool", "Predicates", "PredicateIndex", "Essentials", "Tracing", "TraceExport",
                "StructuredLogging", "Messages", "ChangeEvents", "DispatchCore", "RegistryCore", "WorkerConfiguration",
            ],
            path: "Tests/Fuzz", exclude: ["Package.swift", "Driver", "corpus", "dictionaries"],
            swiftSettings: swiftSettings),
        .testTarget(name: "TidyTests", dependencies: ["PushTestKit"], swiftSettings: swiftSettings),
    ],
    cxxLanguageStandard: .cxx17
)
