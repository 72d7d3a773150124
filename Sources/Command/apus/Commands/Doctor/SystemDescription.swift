import Essentials
import EventLoop
import Glibc

/// A description of the machine and of the program, in lines for people.
enum SystemDescription {
    /// The lines.
    static func text(environment: [String: String]) -> String {
        var system = utsname()
        uname(&system)
        let memory = file("/proc/meminfo").split(separator: "\n").prefix(3).map { "  \($0)" }
        let release = file("/etc/os-release").split(separator: "\n").first { $0.hasPrefix("PRETTY_NAME=") }
        // The values may be secrets.
        let variables = environment.keys.filter { $0.hasPrefix("APUS_") }.sorted()
        return
            ([
                "time: \(WallTime.text(milliseconds: WallClock.nowMilliseconds()))",
                "apus: \(ProductVersion.current)",
                "system: \(release?.dropFirst("PRETTY_NAME=".count) ?? "unknown")",
                "kernel: \(text(system.release)) \(text(system.machine))",
                "processors: \(sysconf(Int32(_SC_NPROCESSORS_ONLN)))",
                "load: \(file("/proc/loadavg").split(separator: "\n").first ?? "unknown")",
                "variables: \(variables.isEmpty ? "none" : variables.joined(separator: " "))",
                "memory:",
            ] + memory).joined(separator: "\n")
    }

    /// The text of a fixed array of C.
    private static func text<Bytes>(_ field: Bytes) -> String {
        withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    private static func file(_ path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = read(descriptor, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
