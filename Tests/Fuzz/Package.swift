// swift-tools-version: 6.2
import PackageDescription

// The fuzzers: a package of their own, because libFuzzer brings the function `main`, and because everything below them
// is compiled with its instruments. `deploy/bin/fuzz` builds it. The same targets are compiled into the tests of the
// package above, which replay the corpus.
let package = Package(
    name: "apus-fuzz",
    dependencies: [.package(name: "apus", path: "../..")],
    targets: [
        .executableTarget(
            name: "apus-fuzz",
            dependencies: [
                .product(name: "ApusInternals", package: "apus"), .product(name: "CRabbitMQ", package: "apus"),
            ],
            path: ".",
            exclude: ["Replay", "corpus", "dictionaries"],
            sources: ["Targets", "Driver"],
            swiftSettings: [
                .swiftLanguageMode(.v6),
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .unsafeFlags(["-parse-as-library"]),
            ])
    ]
)
