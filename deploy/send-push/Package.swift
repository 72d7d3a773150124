// swift-tools-version: 6.2
import PackageDescription

// A program that pushes with the library alone: it shows that the library needs nothing else of Apus.
let package = Package(
    name: "send-push",
    dependencies: [.package(name: "apus", path: "../..")],
    targets: [
        .executableTarget(
            name: "send-push", dependencies: [.product(name: "APNs", package: "apus")], path: "Sources/SendPush",
            swiftSettings: [.swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility")])
    ]
)
