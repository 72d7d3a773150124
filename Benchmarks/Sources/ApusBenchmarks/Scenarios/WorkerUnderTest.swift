import Foundation
import PushTestKit

/// A running `apus run`, watched through its metrics.
final class WorkerUnderTest {
    private let process: ChildProcess
    private let port: UInt16

    var identifier: Int32 { process.identifier }

    /// Starts a worker.
    ///
    /// - Parameters:
    ///   - bench: where its configuration is.
    ///   - number: tells it from others that run beside it.
    /// - Throws: `ChildProcess.Failure` if it does not start.
    init(bench: Workbench, number: Int = 0) throws {
        port = UInt16(30_001 + 100 * number + Int.random(in: 0..<100))
        process = try ChildProcess(
            bench.options.apusPath,
            ["run", "--config", bench.folder + "/apus.toml", "--set", "admin.listen=127.0.0.1:\(port)"])
        try ListeningPort.wait(port)
    }

    /// The sum of a metric over its series whose labels contain a text.
    func metric(_ name: String, _ label: String = "") -> Int {
        PlainHTTP.request("GET", "/metrics", port: port).body.split(separator: "\n")
            .filter { $0.hasPrefix(name + "{") && $0.contains(label) }
            .compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }.reduce(0, +)
    }

    var accepted: Int { metric("apus_pushes_total", #"outcome="accepted""#) }

    /// Waits until that many pushes were accepted.
    func wait(forAccepted count: Int, minutes: Int = 2) throws(ChildProcess.Failure) {
        try wait("\(count) accepted pushes", minutes: minutes) { accepted >= count }
    }

    /// Waits until it consumes.
    func waitUntilReady() throws(ChildProcess.Failure) {
        try wait("readiness") { PlainHTTP.request("GET", "/readyz", port: port).status == 200 }
    }

    /// Waits until a condition holds.
    func wait(
        _ what: String, minutes: Int = 2, until condition: () -> Bool
    ) throws(ChildProcess.Failure) {
        // Looked at rarely, because answering costs the worker some of the time that is measured.
        for _ in 0..<(minutes * 1_200) {
            if condition() { return }
            usleep(50_000)
        }
        throw ChildProcess.Failure(
            description: "the worker did not reach \(what) in \(minutes) minutes: \(process.errors.suffix(2_000))")
    }

    /// A line of its status with a size, in MiB: `VmRSS` now, `VmHWM` at most so far (proc(5)).
    func mebibytes(_ line: String) -> Double {
        let status = (try? String(contentsOfFile: "/proc/\(identifier)/status", encoding: .utf8)) ?? ""
        let found = status.split(separator: "\n").first { $0.hasPrefix(line + ":") } ?? ""
        return (found.split(separator: " ").dropFirst().first.flatMap { Double($0) } ?? 0) / 1_024
    }

    func end() { process.end() }
}
