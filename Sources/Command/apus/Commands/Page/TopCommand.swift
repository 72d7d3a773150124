import Dispatcher
import JSON
import OperatorPage
import RegistryCore
import WorkerConfiguration

/// `apus top`.
struct TopCommand: Command {
    private static let once = CommandOption.flag("once", letter: "1", "Show it once, and end.")
    private static let seconds = CommandOption.value(
        "interval", letter: "i", "SECONDS", "The time between two looks, 1 to 3600. Default: 5.")

    let name = "top"
    let summary = "Show what all workers do at this moment"
    let help = CommandHelp(
        discussion: """
            Shows pushes a second by outcome, event lag, queues, dead letters, apps, workers and
            fan-outs, until Ctrl-C. It is the view Now of the operator's page: workers write a
            report to the registry every five seconds, and this command adds them up. A worker
            without a report for 20 seconds is shown as stale. RabbitMQ is asked for its queues;
            without an answer the rest is shown.
            """,
        examples: [
            .init("apus top", "Shows it again every five seconds."),
            .init("apus top --once --json | jq .rates", "Gives the rates to a program."),
        ],
        exitCodes: DeviceRegistry.exitCodes
    )
    let options = [once, seconds, .json] + CommandOption.configuration

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let seconds = try invocation.integer(Self.seconds, in: 1...3_600) ?? 5
        let configuration = try invocation.loadConfiguration(for: .tool).configuration
        let page: OperatorPage
        do { page = try configuration.deploymentView() } catch { throw CommandFailure(error) }
        defer { page.stop() }
        let replaces = invocation.output.isTerminal && StandardError.isTerminal && !invocation.has(Self.once)
        var shownCount = 0
        while true {
            let json: [UInt8]
            do { json = try await page.now() } catch let error as RegistryError {
                throw CommandFailure(DeviceRegistry.exitCode(error.code), error.message)
            }
            if invocation.isJSON {
                invocation.output.line(json)
            } else {
                let lines = TopReport.lines(try JSONParser().parse(json))
                if replaces {
                    StandardError.replaceLines(shownCount, with: lines)
                    shownCount = max(shownCount, lines.count)
                } else {
                    invocation.output.lines(lines.joined(separator: "\n") + "\n")
                }
            }
            invocation.output.flush()
            if invocation.has(Self.once) || invocation.output.isBroken { return .ok }
            try await Task.sleep(for: .seconds(seconds))
        }
    }
}

/// Writes the view Now as text.
enum TopReport {
    private static let rates: [(member: StaticString, title: String)] = [
        ("accepted", "accepted"), ("tokenDead", "token dead"), ("expired", "expired"), ("coalesced", "coalesced"),
        ("retried", "retried"), ("deadLettered", "dead letters"),
    ]

    /// How many apps are shown: those with the most trouble come first.
    private static let appsMaximum = 20

    /// The lines of the answer of `api/now`.
    static func lines(_ now: JSONValue) -> [String] {
        let workers = elements(now["workers"])
        let ready = workers.filter { $0["state"]?.isString("ready") == true }.count
        var lines = ["\(workers.count) worker\(workers.count == 1 ? "" : "s"), \(ready) ready"]
        let shown = rates.map { "\(rate(now["rates"]?[$0.member])) \($0.title)" }
        lines.append("pushes/s      \(shown.joined(separator: ", "))")
        lines.append(
            "event lag     p50 \(duration(now["lag"]?["p50Seconds"])), p99 \(duration(now["lag"]?["p99Seconds"])), of "
                + "\(now["lag"]?["count"]?.int64 ?? 0) pushes in a minute")
        let queues = elements(now["queues"]?["list"]).map { queue in
            let consumers = queue["consumers"]?.int64 ?? 0
            return "\(queue["name"]?.string ?? "") \(queue["ready"]?.int64 ?? 0)"
                + (consumers > 0 ? " (\(consumers) consumer\(consumers == 1 ? "" : "s"))" : "")
        }
        lines.append("queues        \(queues.isEmpty ? "unknown" : queues.joined(separator: ", "))")
        // Why RabbitMQ tells of none stands among the problems.
        if let reason = now["queues"]?["reason"]?.string, now["queues"]?["status"]?.isString("ok") == true {
            lines.append("              not all: \(reason)")
        }
        let waiting = now["deadLetters"]?["waiting"]?.int64.map { ", \($0) to be collected" } ?? ""
        lines.append("dead letters  \(now["deadLetters"]?["collected"]?.int64 ?? 0)\(waiting)")
        lines += elements(now["problems"]).compactMap(\.string).map { "problem       \($0)" }
        let apps = apps(now)
        lines +=
            [""]
            + table(
                ["APP", "STATE", "PUSHES/S", "IN FLIGHT", "CONNECTIONS", "WHY"], Array(apps.prefix(appsMaximum)))
        if apps.count > appsMaximum {
            let others = apps.dropFirst(appsMaximum)
            let troubled = others.count { $0[1] != "ok" }
            lines.append("and \(others.count) more apps, \(troubled) of them not ok; --json has all")
        }
        lines +=
            [""] + table(["WORKER", "STATE", "AGE", "PUSHES/S", "IN FLIGHT", "P99", "VERSION", "WHY"], rows(workers))
        let fanOuts = elements(now["fanOuts"]).filter {
            $0["state"]?.isString("planned") == true || $0["state"]?.isString("planning") == true
        }
        guard !fanOuts.isEmpty else { return lines }
        return lines + [""] + table(["FAN-OUT", "STATE", "APP", "SERVED", "LEFT", "EVENT"], fanOuts.map(fanOut))
    }

    private static func apps(_ now: JSONValue) -> [[String]] {
        elements(now["apps"]).map { app in
            let reasons = elements(app["reasons"]).compactMap { $0["reason"]?.string }
            return [
                app["name"]?.string ?? "", app["paused"]?.bool == true ? "paused" : app["state"]?.string ?? "",
                rate(app["rates"]?["accepted"]), "\(app["inFlight"]?.int64 ?? 0)", "\(app["connections"]?.int64 ?? 0)",
                Set(reasons).sorted().joined(separator: "; "),
            ]
        }
    }

    private static func rows(_ workers: [JSONValue]) -> [[String]] {
        workers.map { worker in
            let reasons = elements(worker["readiness"]).compactMap { $0["reason"]?.string }
            return [
                worker["id"]?.string ?? "", worker["state"]?.string ?? "", duration(worker["ageSeconds"]),
                rate(worker["rates"]?["accepted"]), "\(worker["inFlight"]?.int64 ?? 0)",
                duration(worker["lag"]?["p99Seconds"]), worker["version"]?.string ?? "",
                reasons.joined(separator: "; "),
            ]
        }
    }

    private static func fanOut(_ fanOut: JSONValue) -> [String] {
        let served = (fanOut["chunksServed"]?.int64 ?? 0) + (fanOut["chunksCancelled"]?.int64 ?? 0)
        return [
            "\(fanOut["number"]?.int64 ?? 0)", fanOut["state"]?.string ?? "", fanOut["app"]?.string ?? "-",
            "\(served)/\(fanOut["chunksPlanned"]?.int64 ?? 0)", duration(fanOut["etaSeconds"]),
            fanOut["eventId"]?.string ?? "",
        ]
    }

    // MARK: Texts

    private static func elements(_ value: JSONValue?) -> [JSONValue] { (value?.array).map { Array($0) } ?? [] }

    private static func table(_ titles: [String], _ rows: [[String]]) -> [String] {
        TextTable.lines([titles] + rows, leftColumns: Set(titles.indices))
    }

    private static func rate(_ value: JSONValue?) -> String {
        let rate = value?.double ?? 0
        let tenths = Int((rate * 10).rounded())
        return rate >= 100 ? "\(Int(rate.rounded()))" : "\(tenths / 10).\(tenths % 10)"
    }

    private static func duration(_ value: JSONValue?) -> String {
        guard let seconds = value?.double else { return "-" }
        return switch seconds {
        case ..<1: "\(Int((seconds * 1_000).rounded())) ms"
        case ..<120: "\(Int(seconds.rounded())) s"
        default: "\(Int((seconds / 60).rounded())) min"
        }
    }
}
