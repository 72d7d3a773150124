import Foundation
import PushTestKit

/// h2load, the reference: what HTTP/2 over TLS costs at the least, in practice.
enum LoadTool {
    /// A rate and what a request costs.
    struct Figures {
        var perSecond: Double
        var microseconds: Double
        /// What ninety-nine of a hundred requests took at most, in milliseconds; nil if they were not paced.
        var p99Milliseconds: Double?
    }

    /// Sends requests like those of the client, from one processor if it is given, and fails if one of them does.
    ///
    /// With `isPlain` they go by HTTP/1.1 without TLS; with `requestsPerSecond` they are paced and each is timed.
    static func run(
        on bench: Workbench, port: UInt16, path: String, headers: [(String, String)], bodyFile: String, count: Int,
        connections: Int, streams: Int, processor: Int? = nil, isPlain: Bool = false,
        requestsPerSecond: Double? = nil
    ) async throws -> Figures {
        var command = (processor.map { ["/usr/bin/taskset", "-c", "\($0)"] } ?? []) + ["/usr/bin/h2load"]
        command += ["-n", "\(count)", "-c", "\(connections)", "-m", "\(streams)", "-d", bodyFile]
        for (name, value) in headers { command += ["-H", "\(name): \(value)"] }
        if isPlain { command.append("--h1") }
        let log = bench.folder + "/requests.log"
        if let requestsPerSecond {
            command += ["--rps=\(max(1, requestsPerSecond / Double(connections)))", "--log-file=\(log)"]
        }
        command.append("\(isPlain ? "http" : "https")://127.0.0.1:\(port)\(path)")
        let before = ProcessorTime.endedChildrenMicroseconds()
        let result = try await bench.run(command[0], Array(command.dropFirst()))
        let microseconds = (ProcessorTime.endedChildrenMicroseconds() - before) / Double(count)
        let line = result.output.split(separator: "\n").first { $0.hasPrefix("finished in") } ?? ""
        let rate = line.split(separator: " ").first { Double($0) != nil }.flatMap { Double($0) }
        guard let rate, result.output.contains(" \(count) succeeded") else {
            throw BenchmarkFailure(description: "h2load failed: \(result.output.suffix(800))")
        }
        return Figures(
            perSecond: rate, microseconds: microseconds,
            p99Milliseconds: requestsPerSecond == nil ? nil : try p99Milliseconds(ofLog: log))
    }

    /// The third column of the log has the microseconds of a request.
    private static func p99Milliseconds(ofLog path: String) throws -> Double {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try FileManager.default.removeItem(atPath: path)
        let times = text.split(separator: "\n").compactMap { line in
            line.split(separator: "\t").dropFirst(2).first.flatMap { Double($0) }
        }
        guard !times.isEmpty else { throw BenchmarkFailure(description: "h2load timed no request: \(path)") }
        return times.sorted()[(times.count - 1) * 99 / 100] / 1_000
    }
}
