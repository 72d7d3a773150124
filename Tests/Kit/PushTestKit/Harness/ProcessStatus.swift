import Foundation

/// The kernel's status of a running process (proc(5)).
public enum ProcessStatus {
    /// A line of its memory in KiB: `VmRSS` is resident now, `VmHWM` was at most so far, `VmSize` is address space.
    ///
    /// - Throws: `PrivateServerFailure` if there is no such process or line.
    public static func kibibytes(_ name: String, of identifier: Int32) throws -> Int {
        let status = (try? String(contentsOfFile: "/proc/\(identifier)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") } ?? ""
        guard let kibibytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) }) else {
            throw PrivateServerFailure("process \(identifier) does not say its \(name)")
        }
        return kibibytes
    }

    /// How many files it has open.
    public static func openFileCount(of identifier: Int32) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(identifier)/fd").count
    }
}
