// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "apus-benchmarks",
    products: [.library(name: "allocation-counter", type: .dynamic, targets: ["AllocationCounter"])],
    dependencies: [.package(name: "apus", path: "..")],
    targets: [
        .executableTarget(
            name: "apus-benchmarks",
            dependencies: [
                .product(name: "ApusInternals", package: "apus")
            ],
            path: "Sources/ApusBenchmarks",
            swiftSettings: [
                .swiftLanguageMode(.v6),
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("InternalImportsByDefault"),
            ]),
        // Put in front of glibc's own functions by LD_PRELOAD, never linked.
        .target(name: "AllocationCounter"),
        // The reference for the worker: the least that a consumer in C can do with the same queue, prefetch and acks.
        .executableTarget(
            name: "bare-consumer", path: "Sources/BareConsumer", linkerSettings: [.linkedLibrary("rabbitmq")]),
    ]
)
