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

    static let commit: String =
        (try? ChildProcess.run("/usr/bin/git", ["describe", "--always", "--dirty"]).output)?
        .trimmingCharacters(in: .whitespacesAndNewlines) ?? "unknown"

    static let date: String = {
        let formatter = DateFormatter()
        formatter.dateFormat = "yyyy-MM-dd"
        formatter.timeZone = TimeZone(identifier: "UTC")
        return formatter.string(from: Date())
    }()
}
