// swift-tools-version: 6.2
import PackageDescription

// Programs that push, one that publishes, and one that reads a push, with one library each: they show that the libraries
// need nothing else of Apus.
func program(_ name: String, in folder: String, with library: String) -> Target {
    .executableTarget(
        name: name, dependencies: [.product(name: library, package: "apus")], path: "Sources/\(folder)",
        swiftSettings: [.swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility")])
}

let package = Package(
    name: "send-push",
    dependencies: [.package(name: "apus", path: "../..")],
    targets: [
        program("send-push", in: "SendPush", with: "APNs"), program("send-fcm", in: "SendFCM", with: "FCM"),
        program("send-webpush", in: "SendWebPush", with: "WebPush"),
        program("publish-change", in: "PublishChange", with: "ApusPublisher"),
        program("read-push", in: "ReadPush", with: "ApusClient"),
    ]
)
