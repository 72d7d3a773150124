import Foundation
import PushTestKit

/// The cost of an app to a worker, in memory and series: a worker with one app beside one with hundreds.
///
/// Each app gets a push, and the worker is looked at when it has been idle for some seconds.
struct AppsMemory {
    /// The resources of a worker.
    private struct Cost {
        var kibibytes: Double
        var series: Double
        var scrapeKibibytes: Double
    }

    private static let apps = Scale.of(256, small: 8)
    private static let idleSeconds = 5.0

    let bench: Workbench
    let report: Report
    let broker: String

    func run() async throws {
        let apns = try await bench.startSimulator(["--trusting", "--first-streams", "1000"])
        defer { apns.kill() }
        let fcm = try await SimulatorProcess.startFCM(in: bench.temporary, ["--trusting"])
        defer { fcm.kill() }
        for (name, port) in [("", nil), ("_apns_and_fcm", fcm.port)] {
            let one = try await cost(apps: 1, apns: apns.port, fcm: port)
            let all = try await cost(apps: Self.apps, apns: apns.port, fcm: port)
            let others = Double(Self.apps - 1)
            report.add(
                "memory_of_an_app\(name)", (all.kibibytes - one.kibibytes) / others, "KiB",
                budget: .valueAtMost(port == nil ? 256 : 512))
            report.add("series_of_an_app\(name)", (all.series - one.series) / others, "", budget: .valueAtMost(12))
            report.add("series_of_256_apps\(name)", all.series, "", budget: .valueAtMost(3_000))
            report.add("scrape_of_256_apps\(name)", all.scrapeKibibytes, "KiB", budget: .valueAtMost(300))
        }
    }

    private func cost(apps: Int, apns: UInt16, fcm: UInt16?) async throws -> Cost {
        let name = "apps-memory-\(apps)\(fcm == nil ? "" : "-fcm").db"
        try writeConfiguration(apps: apps, apns: apns, fcm: fcm, registry: name)
        try await bench.apus("topology", "apply")
        let pushes = apps * (fcm == nil ? 1 : 2)
        try await bench.importLines(pushes, intoRegistry: bench.registryURL(name)) { number in
            number < apps
                ? #"{"deviceId":"i-\#(number)","userId":"u-\#(number)","platform":"APNS","#
                    + #""token":"\#(TestDevices.token(number))","app":"app-\#(number)"}"#
                : #"{"deviceId":"a-\#(number)","userId":"u-\#(number - apps)","platform":"GCM","#
                    + #""token":"\#(number):\#(String(repeating: "x", count: 140))","app":"app-\#(number - apps)"}"#
        }
        let worker = try WorkerProcess(in: bench.temporary)
        try await worker.readiness(200)
        let events = (0..<apps).map { app in
            TestEvents.pushRequested("\(name)-\(app)", to: .users(["u-\(app)"]), app: "app-\(app)")
        }
        try await bench.apus("publish", "--file", bench.write("events.ndjson", events.joined(separator: "\n") + "\n"))
        try await worker.wait(forAccepted: pushes)
        try await Pause.seconds(Self.idleSeconds)
        let scrape = try await worker.get("/metrics").body
        let cost = Cost(
            kibibytes: 1_024 * (try worker.mebibytes("VmRSS")),
            series: Double(scrape.split(separator: "\n").count { !$0.hasPrefix("#") }),
            scrapeKibibytes: Double(scrape.utf8.count) / 1_024)
        await worker.drain(seconds: 10)
        return cost
    }

    private func writeConfiguration(apps: Int, apns: UInt16, fcm: UInt16?, registry: String) throws {
        let all = (0..<apps).map { index in
            var app = TestConfiguration.App(endpoint: "127.0.0.1:\(apns)")
            (app.name, app.bundleID, app.pools) = ("app-\(index)", "\(Workbench.bundleID).n\(index)", [])
            if let fcm {
                app.sections = """
                    [app.fcm]
                    service_account_file = "account.json"
                    endpoint = "127.0.0.1:\(fcm)"
                    token_url = "https://127.0.0.1:\(fcm)/token"
                    ca_file = "fcm.pem"
                    """
            }
            return app
        }
        var configuration = TestConfiguration(brokerURLs: [broker], apps: all)
        configuration.registryURL = bench.registryURL(registry)
        configuration.retry = ""
        try bench.write("apus.toml", configuration.text)
    }
}
