import Foundation
import PushTestKit

/// The machine that the figures were measured on.
enum Machine {
    static let description: String = {
        let processor =
            (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8))?
            .split(separator: "\n").first { $0.hasPrefix("model name") }?
            .split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown processor"
        let kernel = ProcessInfo.processInfo.operatingSystemVersionString
        let broker = ProcessInfo.processInfo.environment["APUS_RABBITMQ_VERSION"].map { ", RabbitMQ \($0)" } ?? ""
        return "\(processor), \(ProcessInfo.processInfo.activeProcessorCount) cores, \(kernel)\(broker)"
    }()

    /// The commit, with a mark if anything but the figures themselves differs from it.
    static func commit() async -> String {
        let figures = ["Benchmarks/results.json"] + BenchmarkDocuments.all.map(\.path)
        let changes = ["status", "--porcelain", "--", "."] + figures.map { ":!\($0)" }
        guard let commit = await git(["rev-parse", "--short", "HEAD"]), let changed = await git(changes) else {
            return "unknown"
        }
        return changed.isEmpty ? commit : commit + "-dirty"
    }

    private static func git(_ arguments: [String]) async -> String? {
        let command = try? RunningCommand(
            program: "/usr/bin/git", arguments, workingFolder: FileManager.default.currentDirectoryPath)
        return await command?.end().output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    static let date: String = {
        let formatter = DateFormatter()
        formatter.dateFormat = "yyyy-MM-dd"
        formatter.timeZone = TimeZone(identifier: "UTC")
        return formatter.string(from: Date())
    }()
}
