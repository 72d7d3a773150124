// swift-tools-version: 6.2
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

func swiftTarget(
    _ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []
) -> Target {
    .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: swiftSettings)
}

func testTarget(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: swiftSettings)
}

let package = Package(
    name: "apus",
    products: [
        .executable(name: "apus", targets: ["apus"]),
        .library(name: "APNs", targets: ["APNs"]),
        // For tests: loaded into a process before the C library, so that system calls fail.
        .library(name: "CallFaults", type: .dynamic, targets: ["CallFaults"]),
        // For benchmarks: put in front of the C library's own functions by LD_PRELOAD, never linked.
        .library(name: "allocation-counter", type: .dynamic, targets: ["AllocationCounter"]),
        // For the package in `Tests/Fuzz/` only.
        .library(
            name: "ApusInternals",
            targets: [
                "EventLoop", "Metrics", "Crypto", "HTTP2", "HTTPServer", "AMQP", "ChangeQueue", "JSON", "TOML",
                "UnicodeText", "Geography", "PushCore", "SQLiteRegistry", "PostgresRegistry", "APNsTransport",
                "RegistryAPI", "Dispatcher", "APNsSimulator", "PushTestKit",
            ]
        ),
        // For `Tests/Fuzz/` as well: a product with a system library can hold nothing else.
        .library(name: "CRabbitMQ", targets: ["CRabbitMQ"]),
    ],
    targets: [
        // Ring 0: C libraries, each imported by exactly one Swift target.
        .target(name: "CLinux"),
        .target(name: "CCommandLine"),
        .systemLibrary(name: "CRabbitMQ", pkgConfig: "librabbitmq", providers: [.apt(["librabbitmq-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CNghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .target(name: "CSimdJSON", linkerSettings: [.linkedLibrary("simdjson")]),
        .target(name: "CTOML"),
        // Without its pkg-config file, whose -D flag the package manager refuses with a warning.
        .systemLibrary(name: "CUTF8Proc", providers: [.apt(["libutf8proc-dev"])]),
        .systemLibrary(name: "CPrefetch"),

        // Ring 1: mechanism, no word of the domain.
        swiftTarget("EventLoop", ["CLinux"]),
        swiftTarget("Metrics", []),
        swiftTarget("JSON", ["CSimdJSON"]),
        swiftTarget("UnicodeText", ["CUTF8Proc"]),
        swiftTarget("Geography", []),
        swiftTarget("Prefetching", ["CPrefetch"]),
        swiftTarget("TOML", ["CTOML"]),
        swiftTarget("Crypto", ["COpenSSL"]),
        swiftTarget("HTTP2", ["CNghttp2", "EventLoop", "Crypto"]),
        swiftTarget("AMQP", ["CRabbitMQ", "EventLoop"]),
        swiftTarget("HTTPServer", ["EventLoop", "Crypto"]),
        swiftTarget("HTTPClient", ["CCurl"]),

        // Ring 2: the core. Pure values and state machines.
        swiftTarget("PushCore", ["JSON", "UnicodeText", "Geography", "Prefetching"]),

        // Ring 3: adapters, one port of the core each; they do not import each other.
        swiftTarget("APNsTransport", ["PushCore", "EventLoop", "Metrics", "Crypto", "HTTP2", "JSON"]),
        swiftTarget(
            "ChangeQueue", ["PushCore", "EventLoop", "Metrics", "AMQP", "Crypto", "HTTPClient", "JSON"]),
        swiftTarget("SQLiteRegistry", ["PushCore", "JSON", "CSQLite"]),
        swiftTarget("AdminServer", ["JSON", "HTTPServer"]),
        swiftTarget("PostgresRegistry", ["PushCore", "EventLoop", "JSON", "CPostgres"]),
        swiftTarget(
            "RegistryAPI", ["PushCore", "EventLoop", "Metrics", "Crypto", "JSON", "HTTPServer"],
            resources: [.embedInCode("Native/openapi.json")]),

        // Ring 4: assembly.
        swiftTarget("APNs", ["APNsTransport", "PushCore", "Metrics", "Crypto"]),
        swiftTarget(
            "Dispatcher",
            [
                "PushCore", "EventLoop", "Metrics", "JSON", "TOML", "Crypto", "APNsTransport", "ChangeQueue",
                "SQLiteRegistry", "PostgresRegistry", "AdminServer", "RegistryAPI",
            ]
        ),
        .executableTarget(
            name: "apus",
            dependencies: [
                "CCommandLine", "Dispatcher", "AdminServer", "RegistryAPI", "PushCore", "EventLoop", "Metrics", "JSON",
                "APNsTransport",
                "ChangeQueue", "SQLiteRegistry", "PostgresRegistry", "APNsSimulator",
            ],
            swiftSettings: swiftSettings
        ),

        // Support: seen by the command, the tests and the benchmarks, never by the worker's targets.
        swiftTarget("APNsSimulator", ["PushCore", "EventLoop", "Crypto", "HTTP2", "JSON"]),
        swiftTarget("PushTestKit", ["PushCore", "Geography", "EventLoop", "Crypto", "JSON"]),

        .target(name: "CallFaults", path: "Tests/CallFaults", linkerSettings: [.linkedLibrary("dl")]),
        // For `make sanitize`: tells ThreadSanitizer of locks that it does not see.
        .target(name: "ThreadSanitizer", path: "Tests/ThreadSanitizer", linkerSettings: [.linkedLibrary("dl")]),
        testTarget("PushTestKitTests", ["PushTestKit", "PushCore", "EventLoop", "CallFaults", "ThreadSanitizer"]),
        testTarget("EventLoopTests", ["EventLoop", "PushTestKit", "CLinux"]),
        testTarget("MetricsTests", ["Metrics"]),
        testTarget("JSONTests", ["JSON", "PushTestKit"]),
        testTarget("TOMLTests", ["TOML", "PushTestKit"]),
        testTarget("CryptoTests", ["Crypto", "PushTestKit"]),
        testTarget("HTTP2Tests", ["HTTP2", "Crypto", "EventLoop", "PushTestKit"]),
        testTarget("AMQPTests", ["AMQP", "CRabbitMQ", "EventLoop", "PushTestKit"]),
        testTarget("HTTPServerTests", ["HTTPServer", "Crypto", "EventLoop", "PushTestKit"]),
        testTarget("HTTPClientTests", ["HTTPClient", "HTTPServer", "Crypto", "PushTestKit"]),
        testTarget("PushCoreTests", ["PushCore", "JSON", "UnicodeText", "Geography", "PushTestKit"]),
        testTarget(
            "APNsTransportTests",
            [
                "APNsTransport", "APNsSimulator", "PushCore", "Crypto", "HTTP2", "JSON", "EventLoop", "Metrics",
                "PushTestKit",
            ]),
        testTarget("APNsTests", ["APNs", "APNsSimulator", "Crypto", "PushTestKit"]),
        testTarget("APNsSimulatorTests", ["APNsSimulator", "HTTP2", "Crypto", "EventLoop", "JSON", "PushTestKit"]),
        testTarget(
            "ChangeQueueTests",
            ["ChangeQueue", "JSON", "AMQP", "PushCore", "EventLoop", "Metrics", "PushTestKit", "SQLiteRegistry"]),
        testTarget("SQLiteRegistryTests", ["SQLiteRegistry", "PushCore", "PushTestKit"]),
        testTarget(
            "RegistryAPITests",
            [
                "RegistryAPI", "HTTPServer", "PushCore", "SQLiteRegistry", "PostgresRegistry", "Crypto", "JSON",
                "Metrics",
                "EventLoop", "PushTestKit",
            ], exclude: ["Scripts"]),
        testTarget(
            "PostgresRegistryTests", ["PostgresRegistry", "SQLiteRegistry", "EventLoop", "PushCore", "PushTestKit"]),
        testTarget("AdminServerTests", ["AdminServer", "Metrics", "PushTestKit"]),
        testTarget(
            "DispatcherTests",
            [
                "APNsTransport", "Dispatcher", "PushCore", "EventLoop", "Metrics", "SQLiteRegistry", "JSON", "Crypto",
                "PushTestKit",
            ]
        ),
        testTarget(
            "EndToEndTests",
            [
                "Dispatcher", "ChangeQueue", "PushCore", "APNsSimulator", "SQLiteRegistry", "AMQP", "JSON", "HTTP2",
                "EventLoop", "Crypto", "Metrics", "PushTestKit",
            ]
        ),
        // The ledger proof: a program of its own, run by `make fault` and, in its short form, by the tests.
        .executableTarget(
            name: "FaultLedger",
            dependencies: ["AMQP", "ChangeQueue", "EventLoop", "JSON", "PushTestKit"],
            path: "Tests/FaultLedger",
            swiftSettings: swiftSettings
        ),
        // What `make bench` runs; `bare-consumer` is the reference for the worker, the least that a consumer in C can
        // do with the same queue, prefetch and acknowledgements.
        .executableTarget(
            name: "apus-benchmarks",
            dependencies: [
                "EventLoop", "Metrics", "Crypto", "ChangeQueue", "PushCore", "SQLiteRegistry", "PostgresRegistry",
                "APNsTransport", "Dispatcher", "Geography", "PushTestKit",
            ],
            path: "Benchmarks/Sources/ApusBenchmarks",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "bare-consumer", path: "Benchmarks/Sources/BareConsumer",
            linkerSettings: [.linkedLibrary("rabbitmq")]),
        .target(name: "AllocationCounter", path: "Benchmarks/Sources/AllocationCounter"),
        testTarget("BenchmarkTests", ["apus-benchmarks", "PushTestKit"]),
        testTarget("FaultLedgerTests", ["FaultLedger", "PushTestKit"]),
        // The targets of `make fuzz`, which replay their corpus here; `Tests/Fuzz` is a package of its own as well.
        .testTarget(
            name: "FuzzTests",
            dependencies: [
                "AMQP", "APNsTransport", "CRabbitMQ", "ChangeQueue", "Crypto", "Dispatcher", "EventLoop", "HTTPServer",
                "JSON", "Metrics", "PushCore", "PushTestKit", "RegistryAPI", "SQLiteRegistry", "TOML",
            ],
            path: "Tests/Fuzz", exclude: ["Package.swift", "Driver", "corpus", "dictionaries"],
            swiftSettings: swiftSettings),
        testTarget("TidyTests", ["PushTestKit"]),
    ],
    cxxLanguageStandard: .cxx17
)
