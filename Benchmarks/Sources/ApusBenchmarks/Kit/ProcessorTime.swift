import Foundation
import Glibc

/// How much processor time was spent.
enum ProcessorTime {
    /// This process so far, all threads, user and system, in microseconds.
    static func ownMicroseconds() -> Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return microseconds(usage.ru_utime) + microseconds(usage.ru_stime)
    }

    /// All children that ended and were waited for, in microseconds.
    static func endedChildrenMicroseconds() -> Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
        return microseconds(usage.ru_utime) + microseconds(usage.ru_stime)
    }

    /// A running process, from `/proc`, in microseconds; the kernel counts it in ticks of 10 ms.
    static func microseconds(ofProcess identifier: Int32) -> Double {
        guard let file = fopen("/proc/\(identifier)/stat", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 1_024)
        guard fgets(&line, Int32(line.count), file) != nil else { return 0 }
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // The name of the program is in parentheses and may hold blanks; fields are counted after it.
        let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return 0 }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK))) * 1_000_000
    }

    /// All processes of the machine together, from `/proc/stat`, in microseconds; what an idle processor waits for does
    /// not count.
    ///
    /// - Parameter processor: the number of a processor, from 0; nil for all of them.
    /// - Returns: the time since the machine's start.
    static func machineMicroseconds(processor: Int? = nil) -> Double {
        let name = processor.map { "cpu\($0) " } ?? "cpu "
        let text = (try? String(contentsOfFile: "/proc/stat", encoding: .utf8)) ?? ""
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) }) else { return 0 }
        // cpu user nice system idle iowait irq softirq steal …
        let ticks = line.split(separator: " ").dropFirst().prefix(7).compactMap { Double($0) }
        guard ticks.count == 7 else { return 0 }
        let busy = ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6]
        return busy / Double(sysconf(Int32(_SC_CLK_TCK))) * 1_000_000
    }

    private static func microseconds(_ time: timeval) -> Double {
        Double(time.tv_sec) * 1_000_000 + Double(time.tv_usec)
    }
}

/// How many allocations this process has made, if it counts them.
///
/// Counting takes a library in front of glibc's, so it is done by a second run of this program that has it.
enum Allocations {
    private typealias Count = @convention(c) () -> UInt64

    /// The number so far; nil if this process does not count.
    static var count: UInt64? {
        guard let symbol = dlsym(nil, "apus_allocation_count") else { return nil }
        return unsafeBitCast(symbol, to: Count.self)()
    }

    /// The library, beside the running program.
    static var libraryPath: String { PreloadedLibrary.path(of: "allocation-counter") }
}

/// A library that is put in front of the C library of a process.
enum PreloadedLibrary {
    /// The path of such a library, which lies beside the running program.
    static func path(of name: String) -> String {
        let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: program).deletingLastPathComponent().appendingPathComponent("lib\(name).so").path
    }
}
