import Glibc
import PushTestKit

/// A running `apus run`, and what its admin server says.
final class WorkerProcess: Sendable {
    let command: RunningCommand

    init(in folder: TemporaryFolder) throws { command = try RunningCommand(["run"], in: folder) }

    /// The port of the admin server, which the worker logs when it listens.
    private func adminPort() async -> UInt16 {
        while true {
            for line in command.errors.split(separator: "\n") where line.contains("\"admin.listening\"") {
                let digits = line.split(separator: "\"port\":").last?.prefix { $0.isNumber } ?? ""
                if let port = UInt16(digits) { return port }
            }
            await Task.yield()
        }
    }

    /// What the admin server answers.
    func get(_ path: String) async -> PlainHTTP.Answer {
        PlainHTTP.request("GET", path, port: await adminPort())
    }

    /// The value of a metric, summed over the series whose labels contain a text.
    func metric(_ name: String, _ label: String = "") async -> Int {
        let series = await get("/metrics").body.split(separator: "\n").filter { line in
            line.hasPrefix(name) && line.contains(label) && ["{", " "].contains(line.dropFirst(name.count).first)
        }
        return series.compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }.reduce(0, +)
    }

    /// Waits until `/readyz` answers with this status, and gives its body.
    func readiness(_ status: Int) async -> String {
        while true {
            let answer = await get("/readyz")
            if answer.status == status { return answer.body }
            await Task.yield()
        }
    }

    /// Waits until a metric has reached a value.
    func wait(for name: String, _ label: String = "", toReach value: Int) async {
        while await metric(name, label) < value { await Task.yield() }
    }

    /// Asks it to end in order, and waits until it has.
    func drain() async -> CommandResult {
        command.signal(SIGTERM)
        return await command.end()
    }

    /// Ends it as a power failure does, and waits until it has.
    func killHard() async {
        command.signal(SIGKILL)
        _ = await command.end()
    }
}
