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

// Both `Sources` and `Tests` show the rings of the architecture: `Sources/RING/TARGET`.
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
                "EncryptedContent", "WebPushTransport", "UnicodeText", "Geography", "PushCore", "SQLiteRegistry",
                "PostgresRegistry", "ServiceClient",
                "APNsTransport", "FCMTransport", "ADMTransport", "Hashing",
                "Essentials", "Notifications", "ConnectionPool", "Predicates", "PredicateIndex",
                "RegistryAPI", "Dispatcher", "PushServiceSimulator", "APNsSimulator", "FCMSimulator",
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
        swiftTarget("AMQP", in: "Mechanism", ["CRabbitMQ", "EventLoop"]),
        swiftTarget("HTTPServer", in: "Mechanism", ["EventLoop", "Crypto"]),
        swiftTarget("HTTPClient", in: "Mechanism", ["CCurl", "EventLoop", "Essentials"]),
        swiftTarget("ServiceManager", in: "Mechanism", ["EventLoop"]),

        // Ring 2: the core. Pure values and state machines.
        swiftTarget("Notifications", in: "Core", ["JSON", "Hashing", "Essentials"]),
        swiftTarget("ConnectionPool", in: "Core", ["Notifications", "Essentials"]),
        swiftTarget("Predicates", in: "Core", ["JSON", "UnicodeText", "Geography", "Essentials"]),
        swiftTarget(
            "PredicateIndex", in: "Core",
            ["Predicates", "Hashing", "Prefetching", "Geography", "UnicodeText", "Essentials"]),
        // What a load needs, from measured costs: for `apus plan`, and for the benchmarks that check it.
        swiftTarget("CapacityModel", in: "Core", []),
        swiftTarget(
            "PushCore", in: "Core",
            ["JSON", "Geography", "Hashing", "Essentials", "Tracing", "Notifications", "Predicates"]),

        // Ring 3: adapters, one port of the core each; they do not import each other.
        // The HTTP/2 client, which the adapters of push services share.
        swiftTarget(
            "ServiceClient", in: "Adapters",
            [
                "EventLoop", "Metrics", "Crypto", "HTTP2", "HTTPClient", "JSON", "Essentials", "Notifications",
                "ConnectionPool",
            ]),
        swiftTarget(
            "APNsTransport", in: "Adapters",
            [
                "ServiceClient", "EventLoop", "Metrics", "Crypto", "HTTP2", "JSON", "Essentials", "Notifications",
                "ConnectionPool",
            ]),
        swiftTarget(
            "ADMTransport", in: "Adapters",
            ["ServiceClient", "Metrics", "HTTPClient", "JSON", "Essentials", "Notifications"]),
        swiftTarget(
            "FCMTransport", in: "Adapters",
            [
                "ServiceClient", "EventLoop", "HTTPClient", "Crypto", "HTTP2", "JSON", "Essentials", "Notifications",
                "ConnectionPool",
            ]),
        swiftTarget(
            "WebPushTransport", in: "Adapters",
            [
                "ServiceClient", "EventLoop", "Metrics", "Crypto", "EncryptedContent", "HTTP2", "JSON", "Essentials",
                "Notifications", "ConnectionPool",
            ]),
        swiftTarget(
            "ChangeQueue", in: "Adapters",
            [
                "PushCore", "EventLoop", "Metrics", "AMQP", "Crypto", "HTTPClient", "JSON", "Notifications",
                "Essentials",
            ],
            exclude: ["README.md"]),
        swiftTarget(
            "SQLiteRegistry", in: "Adapters",
            ["PushCore", "JSON", "CSQLite", "Essentials", "Notifications", "Predicates"]),
        swiftTarget("AdminServer", in: "Adapters", ["JSON", "HTTPServer", "Metrics"]),
        swiftTarget(
            "TraceExport", in: "Adapters",
            ["Tracing", "EventLoop", "HTTPClient", "Metrics", "Essentials", "Notifications"]),
        // Posts outcomes to the backends of apps.
        swiftTarget(
            "Webhooks", in: "Adapters",
            ["PushCore", "EventLoop", "HTTPClient", "Crypto", "Metrics", "Essentials", "Notifications"]),
        swiftTarget(
            "OperatorPage", in: "Adapters",
            [
                "COperatorPage", "PushCore", "EventLoop", "Crypto", "JSON", "HTTPServer", "Essentials",
                "Notifications", "Predicates",
            ]),
        swiftTarget(
            "PostgresRegistry", in: "Adapters",
            ["PushCore", "EventLoop", "JSON", "CPostgres", "Essentials", "Notifications", "Predicates"]),
        swiftTarget(
            "RegistryAPI", in: "Adapters",
            [
                "PushCore", "EventLoop", "Metrics", "Crypto", "JSON", "HTTPServer", "Essentials", "Notifications",
                "Predicates",
            ],
            exclude: ["README.md"], resources: [.embedInCode("Native/openapi.json")]),

        // Ring 4: assembly.
        // What the libraries have in common; each re-exports it, so that a program imports the library alone.
        swiftTarget("PushLibrary", in: "Libraries", ["ServiceClient", "Notifications", "ConnectionPool"]),
        swiftTarget(
            "APNs", in: "Libraries",
            ["PushLibrary", "APNsTransport", "ServiceClient", "Metrics", "Crypto", "Notifications", "ConnectionPool"]),
        swiftTarget(
            "FCM", in: "Libraries",
            ["PushLibrary", "FCMTransport", "ServiceClient", "Metrics", "JSON", "Notifications", "ConnectionPool"]),
        swiftTarget(
            "WebPush", in: "Libraries",
            [
                "PushLibrary", "WebPushTransport", "ServiceClient", "Metrics", "Crypto", "EncryptedContent",
                "Essentials", "Notifications", "ConnectionPool",
            ]),
        // Runs on devices, so it depends on nothing here.
        swiftTarget("ApusClient", in: "Libraries", []),
        swiftTarget(
            "ApusPublisher", in: "Libraries",
            ["ChangeQueue", "PushCore", "EventLoop", "Metrics", "JSON", "Notifications", "Essentials"]),
        swiftTarget(
            "Dispatcher", in: "Worker",
            [
                "PushCore", "EventLoop", "Metrics", "JSON", "TOML", "Crypto", "ServiceClient", "APNsTransport",
                "FCMTransport", "ADMTransport", "WebPushTransport", "ChangeQueue", "SQLiteRegistry", "PostgresRegistry",
                "AdminServer",
                "OperatorPage",
                "HTTPServer", "HTTPClient", "RegistryAPI", "TraceExport", "Tracing", "Webhooks",
                "Essentials", "Notifications", "ConnectionPool", "PredicateIndex",
            ]
        ),
        .executableTarget(
            name: "apus",
            dependencies: [
                "CCommandLine", "Dispatcher", "AdminServer", "OperatorPage", "RegistryAPI", "PushCore", "EventLoop",
                "Metrics", "JSON", "ServiceClient", "APNsTransport", "FCMTransport", "ADMTransport", "WebPushTransport",
                "ChangeQueue", "SQLiteRegistry",
                "PostgresRegistry", "PushServiceSimulator", "APNsSimulator", "FCMSimulator", "ADMSimulator",
                "WebPushSimulator", "LoadGenerator", "TOML",
                "Essentials",
                "Notifications", "Predicates", "Crypto",
                "CapacityModel", "HTTPClient", "ServiceManager", "TraceExport", "Webhooks",
            ],
            path: "Sources/Command/apus",
            swiftSettings: swiftSettings
        ),

        // The phones of the tutorial, each a process.
        .executableTarget(
            name: "chat-client", dependencies: ["ApusClient"], path: "deploy/chat/Client",
            swiftSettings: swiftSettings),

        // Support: seen by the command, the tests and the benchmarks, never by the worker's targets.
        // What simulators of push services have in common: connections, faults, scripts, records.
        swiftTarget("PushServiceSimulator", in: "Support", ["EventLoop", "Crypto", "HTTP2", "JSON", "Notifications"]),
        swiftTarget(
            "APNsSimulator", in: "Support",
            ["PushServiceSimulator", "EventLoop", "Crypto", "HTTP2", "JSON", "Essentials", "Notifications"]),
        swiftTarget(
            "FCMSimulator", in: "Support",
            ["PushServiceSimulator", "HTTPServer", "EventLoop", "Crypto", "HTTP2", "Hashing", "Essentials"]),
        swiftTarget(
            "WebPushSimulator", in: "Support",
            [
                "PushServiceSimulator", "EncryptedContent", "HTTPServer", "EventLoop", "Crypto", "HTTP2", "JSON",
                "Hashing", "Essentials",
            ]),
        swiftTarget(
            "ADMSimulator", in: "Support",
            ["PushServiceSimulator", "HTTPServer", "EventLoop", "Crypto", "JSON", "Hashing", "Essentials"]),
        // The arrivals, events, books and reports of `apus load`: values only.
        swiftTarget("LoadGenerator", in: "Support", ["JSON", "Essentials"]),
        swiftTarget(
            "PushTestKit", in: "Support",
            [
                "PushCore", "AMQP", "Geography", "EventLoop", "Crypto", "Essentials", "Notifications", "Predicates",
                "JSON",
            ]),

        // Workers, broker, registry and push service in one thread and in a time of their own: `Tests/Simulation`.
        swiftTarget(
            "WorkerSimulation", in: "Support",
            ["PushCore", "Notifications", "Predicates", "Essentials", "Hashing", "Dispatcher", "Metrics"]),

        .target(name: "CallFaults", path: "Tests/Support/CallFaults", linkerSettings: [.linkedLibrary("dl")]),
        // For `make sanitize`: tells ThreadSanitizer of locks that it does not see.
        .target(name: "ThreadSanitizer", path: "Tests/Support/ThreadSanitizer", linkerSettings: [.linkedLibrary("dl")]),
        testTarget(
            "PushTestKitTests", in: "Support",
            ["PushTestKit", "PushCore", "EventLoop", "CallFaults", "ThreadSanitizer"]),
        testTarget("EventLoopTests", in: "Mechanism", ["EventLoop", "PushTestKit", "CLinux"]),
        testTarget("MetricsTests", in: "Mechanism", ["Metrics"]),
        testTarget("JSONTests", in: "Mechanism", ["JSON", "PushTestKit"]),
        testTarget("TOMLTests", in: "Mechanism", ["TOML", "PushTestKit"]),
        testTarget("CryptoTests", in: "Mechanism", ["Crypto", "PushTestKit", "Essentials"]),
        testTarget(
            "EncryptedContentTests", in: "Mechanism", ["EncryptedContent", "Crypto", "Essentials", "PushTestKit"]),
        testTarget("HTTP2Tests", in: "Mechanism", ["HTTP2", "Crypto", "EventLoop", "PushTestKit"]),
        testTarget("AMQPTests", in: "Mechanism", ["AMQP", "CRabbitMQ", "EventLoop", "PushTestKit"]),
        // What suites ask of the test framework.
        .target(name: "TestTraits", path: "Tests/Support/TestTraits", swiftSettings: swiftSettings),
        // A plain client of HTTP/2, for the tests of the simulators.
        .target(
            name: "SimulatorTestClient", dependencies: ["HTTP2", "Crypto", "EventLoop", "PushTestKit"],
            path: "Tests/Support/SimulatorTestClient", swiftSettings: swiftSettings),
        testTarget(
            "HTTPServerTests", in: "Mechanism", ["HTTPServer", "Crypto", "EventLoop", "PushTestKit", "TestTraits"]),
        testTarget(
            "HTTPClientTests", in: "Mechanism", ["HTTPClient", "HTTPServer", "EventLoop", "Crypto", "PushTestKit"]),
        testTarget("ServiceManagerTests", in: "Mechanism", ["ServiceManager", "EventLoop", "PushTestKit"]),
        testTarget("HashingTests", in: "Mechanism", ["Hashing", "Crypto", "PushTestKit", "PushCore"]),
        testTarget("EssentialsTests", in: "Mechanism", ["Essentials", "PushTestKit", "JSON"]),
        testTarget(
            "TracingTests", in: "Mechanism", ["Tracing", "Essentials", "PushTestKit"], exclude: ["Scripts"]),
        testTarget("NotificationsTests", in: "Core", ["Notifications", "JSON", "PushTestKit"]),
        testTarget(
            "ConnectionPoolTests", in: "Core",
            ["ConnectionPool", "PushTestKit", "Notifications", "PushCore", "Essentials"]),
        testTarget(
            "PredicatesTests", in: "Core",
            ["Predicates", "JSON", "UnicodeText", "Geography", "PushTestKit", "Notifications", "PushCore"]),
        testTarget(
            "PredicateIndexTests", in: "Core", ["PredicateIndex", "Predicates", "Geography", "PushTestKit", "PushCore"]),
        testTarget("CapacityModelTests", in: "Core", ["CapacityModel", "PushTestKit"]),
        testTarget(
            "PushCoreTests", in: "Core",
            [
                "PushCore", "JSON", "Geography", "PushTestKit", "Essentials", "Tracing", "Notifications", "Predicates",
                "Crypto",
            ]),
        testTarget(
            "APNsTransportTests", in: "Adapters",
            [
                "ServiceClient", "APNsTransport", "PushServiceSimulator", "APNsSimulator", "Crypto", "HTTP2",
                "EventLoop", "Metrics", "PushTestKit", "Notifications", "ConnectionPool", "Essentials",
            ]),
        testTarget(
            "ServiceClientTests", in: "Adapters",
            [
                "ServiceClient", "HTTPClient", "HTTPServer", "Crypto", "Metrics", "Essentials", "PushTestKit",
                "Notifications",
            ]),
        testTarget(
            "ADMTransportTests", in: "Adapters",
            [
                "ADMTransport", "ADMSimulator", "ServiceClient", "HTTPClient", "Essentials", "Metrics", "PushTestKit",
                "Notifications",
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
                "ApusPublisher", "ChangeQueue", "PushCore", "Notifications", "Predicates", "Essentials", "Metrics",
                "CSQLite", "PushTestKit",
            ]),
        testTarget(
            "ApusClientTests", in: "Libraries",
            [
                "ApusClient", "PushCore", "Notifications", "Predicates", "JSON", "PushTestKit", "RegistryAPI",
                "SQLiteRegistry", "Metrics", "TestTraits",
            ]),
        testTarget(
            "PushServiceSimulatorTests", in: "Support", ["PushServiceSimulator", "JSON", "PushTestKit"]),
        testTarget(
            "FCMTransportTests", in: "Adapters",
            [
                "ServiceClient", "FCMTransport", "PushServiceSimulator", "FCMSimulator", "Crypto", "Metrics",
                "PushTestKit", "Notifications", "ConnectionPool", "Essentials", "JSON",
            ]),
        testTarget(
            "WebPushTransportTests", in: "Adapters",
            [
                "WebPushTransport", "ServiceClient", "EncryptedContent", "PushServiceSimulator", "Crypto", "HTTP2",
                "EventLoop", "Metrics", "Essentials", "JSON", "Notifications", "ConnectionPool", "PushTestKit",
            ],
            exclude: ["Scripts"]),
        testTarget(
            "APNsSimulatorTests", in: "Support",
            [
                "APNsSimulator", "PushServiceSimulator", "SimulatorTestClient", "Crypto", "EventLoop", "JSON",
                "PushTestKit", "Essentials", "Notifications",
            ]),
        testTarget(
            "FCMSimulatorTests", in: "Support",
            [
                "FCMSimulator", "PushServiceSimulator", "SimulatorTestClient", "Crypto", "EventLoop", "JSON",
                "PushTestKit", "Essentials", "TestTraits",
            ], exclude: ["Scripts"]),
        testTarget(
            "WebPushSimulatorTests", in: "Support",
            [
                "WebPushSimulator", "PushServiceSimulator", "SimulatorTestClient", "EncryptedContent", "Crypto",
                "EventLoop", "JSON", "PushTestKit", "Essentials", "TestTraits", "RegistryAPI", "Notifications",
            ], exclude: ["Scripts"]),
        testTarget(
            "ADMSimulatorTests", in: "Support",
            ["ADMSimulator", "PushServiceSimulator", "HTTPServer", "JSON", "PushTestKit"]),
        testTarget(
            "LoadGeneratorTests", in: "Support",
            ["LoadGenerator", "PushCore", "JSON", "PushTestKit", "Notifications"]),
        testTarget(
            "ChangeQueueTests", in: "Adapters",
            [
                "ChangeQueue", "JSON", "AMQP", "PushCore", "EventLoop", "Metrics", "PushTestKit", "SQLiteRegistry",
                "Notifications",
            ]),
        testTarget(
            "SQLiteRegistryTests", in: "Adapters", ["SQLiteRegistry", "PushCore", "PushTestKit", "Notifications"]),
        testTarget(
            "RegistryAPITests", in: "Adapters",
            [
                "RegistryAPI", "HTTPServer", "PushCore", "SQLiteRegistry", "PostgresRegistry", "Crypto", "JSON",
                "Metrics", "EventLoop", "PushTestKit", "Essentials", "Notifications", "Predicates", "TestTraits",
            ], exclude: ["Scripts"]),
        testTarget(
            "PostgresRegistryTests", in: "Adapters",
            ["PostgresRegistry", "SQLiteRegistry", "EventLoop", "PushCore", "PushTestKit", "Notifications"]),
        testTarget(
            "TraceExportTests", in: "Adapters",
            ["TraceExport", "Tracing", "HTTPServer", "HTTPClient", "Crypto", "Metrics", "Essentials", "PushTestKit"]),
        testTarget(
            "WebhooksTests", in: "Adapters",
            [
                "Webhooks", "PushCore", "ChangeQueue", "HTTPClient", "HTTPServer", "Crypto", "EventLoop", "Metrics",
                "Essentials", "Notifications", "JSON", "PushTestKit",
            ]),
        testTarget(
            "AdminServerTests", in: "Adapters", ["AdminServer", "HTTPServer", "Metrics", "PushTestKit", "TestTraits"]),
        testTarget(
            "OperatorPageTests", in: "Adapters",
            [
                "OperatorPage", "AdminServer", "HTTPServer", "SQLiteRegistry", "PushCore", "Notifications", "Crypto",
                "JSON", "Essentials", "Predicates", "PushTestKit",
            ]),
        testTarget(
            "DispatcherTests", in: "Worker",
            [
                "ServiceClient", "APNsTransport", "Dispatcher", "FCMSimulator", "PushCore", "EventLoop", "Metrics",
                "SQLiteRegistry",
                "JSON", "Crypto", "PushTestKit", "Essentials", "Notifications", "Predicates", "RegistryAPI",
                "Webhooks", "ChangeQueue", "HTTPClient",
            ]
        ),
        testTarget(
            "EndToEndTests", in: "Command",
            [
                "ApusPublisher", "Dispatcher", "ChangeQueue", "PushCore", "PushServiceSimulator", "APNsSimulator",
                "FCMSimulator",
                "ADMSimulator",
                "WebPushSimulator", "SQLiteRegistry", "AMQP", "JSON", "HTTP2", "EventLoop", "Crypto", "Metrics",
                "PushTestKit",
                "Notifications", "Predicates", "HTTPServer",
            ], exclude: ["Scripts"]
        ),
        // The ledger proof: a program of its own, run by `make fault` and, in its short form, by the tests.
        .executableTarget(
            name: "FaultLedger",
            dependencies: [
                "AMQP", "ChangeQueue", "EventLoop", "JSON", "PushTestKit", "PushServiceSimulator", "APNsSimulator",
                "FCMSimulator", "WebPushSimulator", "Crypto", "PushCore", "Notifications",
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
            dependencies: ["EventLoop", "PushCore", "SQLiteRegistry", "PostgresRegistry", "Notifications"],
            path: "Tests/HostileLoads/Depositor",
            swiftSettings: swiftSettings
        ),
        // What `make bench` runs; `bare-consumer` is the reference for the worker, the least that a consumer in C can
        // do with the same queue, prefetch and acknowledgements.
        .executableTarget(
            name: "apus-benchmarks",
            dependencies: [
                "EventLoop", "Metrics", "Crypto", "PushCore", "SQLiteRegistry", "PostgresRegistry",
                "ServiceClient", "APNsTransport", "FCMTransport", "WebPushTransport", "EncryptedContent", "Dispatcher",
                "Geography", "PushTestKit", "Notifications", "ConnectionPool",
                "Predicates", "PredicateIndex", "Essentials", "CapacityModel", "JSON", "Hashing",
                "PushServiceSimulator", "APNsSimulator",
            ],
            path: "Benchmarks/Sources/ApusBenchmarks",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "bare-consumer", path: "Benchmarks/Sources/BareConsumer",
            linkerSettings: [.linkedLibrary("rabbitmq"), .linkedLibrary("sqlite3")]),
        .target(name: "AllocationCounter", path: "Benchmarks/Sources/AllocationCounter"),
        .target(name: "StoppedClock", path: "Benchmarks/Sources/StoppedClock"),
        testTarget("BenchmarkTests", in: "Support", ["apus-benchmarks", "PushTestKit"]),
        testTarget("FaultLedgerTests", in: "Support", ["FaultLedger", "PushTestKit", "JSON"]),
        testTarget(
            "WorkerSimulationTests", in: "Support",
            [
                "WorkerSimulation", "worker-simulation", "PushTestKit", "PushCore", "Notifications", "Essentials",
                "Predicates",
            ]),
        // The targets of `make fuzz`, which replay their corpus here; `Tests/Fuzz` is a package of its own as well.
        .testTarget(
            name: "FuzzTests",
            dependencies: [
                "AMQP", "ServiceClient", "APNsTransport", "FCMTransport", "ADMTransport", "WebPushTransport",
                "EncryptedContent", "CRabbitMQ", "ChangeQueue", "Crypto", "Dispatcher",
                "EventLoop", "HTTPServer",
                "JSON", "Metrics", "PushCore", "PushTestKit", "RegistryAPI", "SQLiteRegistry", "TOML", "Notifications",
                "ConnectionPool", "Predicates", "PredicateIndex", "Essentials", "Tracing", "TraceExport",
            ],
            path: "Tests/Fuzz", exclude: ["Package.swift", "Driver", "corpus", "dictionaries"],
            swiftSettings: swiftSettings),
        .testTarget(name: "TidyTests", dependencies: ["PushTestKit"], swiftSettings: swiftSettings),
    ],
    cxxLanguageStandard: .cxx17
)
