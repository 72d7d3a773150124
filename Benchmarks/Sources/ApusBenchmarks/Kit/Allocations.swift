import Foundation

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
    static var libraryPath: String {
        let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: program).deletingLastPathComponent()
            .appendingPathComponent("liballocation-counter.so").path
    }
}
