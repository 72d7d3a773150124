import Glibc
import Synchronization

/// A pipe into which a log is written, and from which a test reads what is there.
final class LogPipe: Sendable {
    let writeEnd: Int32
    private let readEnd: Int32

    init() {
        var descriptors: [Int32] = [-1, -1]
        let code = pipe(&descriptors)
        precondition(code == 0, "the system gives no pipe")
        readEnd = descriptors[0]
        writeEnd = descriptors[1]
        _ = fcntl(readEnd, F_SETFL, O_NONBLOCK)
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    /// The whole lines that have been written since the last call.
    func lines() -> [String] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(readEnd, &chunk, chunk.count)
            guard count > 0 else { break }
            bytes.append(contentsOf: chunk[..<count])
        }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { String($0) }
    }
}

/// A wall clock that only moves when a test moves it.
final class FixedClock: Sendable {
    private let storage = Atomic<Int64>(1_714_979_289_012)

    var milliseconds: Int64 { storage.load(ordering: .relaxed) }

    func advance(milliseconds: Int64) { storage.add(milliseconds, ordering: .relaxed) }
}
