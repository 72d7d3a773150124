import Foundation

/// What the figures were measured on.
enum Machine {
    static let description: String = {
        let processor =
            (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8))?
            .split(separator: "\n").first { $0.hasPrefix("model name") }?
            .split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown processor"
        let kernel = ProcessInfo.processInfo.operatingSystemVersionString
        return "\(processor), \(ProcessInfo.processInfo.activeProcessorCount) cores, \(kernel)"
    }()

    /// The commit, with a mark if anything but the figures themselves differs from it.
    static let commit: String = {
        let changes = ["status", "--porcelain", "--", ".", ":!Benchmarks/results.json"]
        guard let commit = git(["rev-parse", "--short", "HEAD"]), let changed = git(changes) else { return "unknown" }
        return changed.isEmpty ? commit : commit + "-dirty"
    }()

    private static func git(_ arguments: [String]) -> String? {
        (try? ChildProcess.run("/usr/bin/git", arguments).output)?.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    static let date: String = {
        let formatter = DateFormatter()
        formatter.dateFormat = "yyyy-MM-dd"
        formatter.timeZone = TimeZone(identifier: "UTC")
        return formatter.string(from: Date())
    }()
}
