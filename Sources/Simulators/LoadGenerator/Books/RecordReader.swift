import Glibc

/// A push of this run in the record of the push server.
public struct RecordedMark: Sendable, Equatable {
    /// The number of the event.
    public var event: Int
    /// When it was answered, in microseconds since 1970.
    public var timeMicroseconds: Int64
    /// Whether it was accepted (status 200).
    public var isAccepted: Bool
    /// Whether a push with the same `apns-id` had been accepted before.
    public var isRepeated: Bool
}

/// Reads the record of the simulator, which has a line of JSON for each answered push, and finds this run's pushes.
///
/// It looks for a few members in the bytes instead of parsing the line, because it must keep up with the push server.
/// Bytes may come in pieces of any length; an unfinished line waits for its rest.
public struct RecordReader: Sendable {
    /// A longer line is passed over: a payload has 5 KiB at most.
    static let lineBytesMaximum = 65_536

    private let mark: [UInt8]
    private let syncCountBase: Int64
    private let eventsMaximum: Int
    private var rest: [UInt8] = []
    private var isSkipping = false

    /// How many lines were of other events: of an earlier run, or of somebody else.
    public private(set) var foreignCount = 0

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - names: the names of the run.
    ///   - eventsMaximum: numbers from here on are no events of the run.
    public init(names: LoadNames, eventsMaximum: Int) {
        mark = Array(names.mark.utf8)
        syncCountBase = names.syncCountBase
        self.eventsMaximum = eventsMaximum
    }

    /// Takes more bytes of the record.
    ///
    /// - Returns: the pushes of this run in all lines that are now complete.
    public mutating func take(_ bytes: [UInt8]) -> [RecordedMark] {
        var found: [RecordedMark] = []
        let pending = rest
        rest = []
        let all = pending.isEmpty ? bytes : pending + bytes
        all.withUnsafeBufferPointer { all in
            var start = 0
            while let end = all[start...].firstIndex(of: 0x0A) {
                if isSkipping {
                    isSkipping = false
                } else if let push = push(in: UnsafeBufferPointer(rebasing: all[start..<end])) {
                    found.append(push)
                } else {
                    foreignCount += 1
                }
                start = end + 1
            }
            guard !isSkipping else { return }
            isSkipping = all.count - start > Self.lineBytesMaximum
            if !isSkipping { rest = Array(all[start...]) }
        }
        return found
    }

    private func push(in line: UnsafeBufferPointer<UInt8>) -> RecordedMark? {
        guard let event = event(in: line), (0..<eventsMaximum).contains(event),
            let time = number(after: #""time_us":"#, in: line), let status = number(after: #""status":"#, in: line)
        else { return nil }
        let isRepeated = index(after: #""duplicate":true"#, in: line) != nil
        return RecordedMark(
            event: event, timeMicroseconds: time, isAccepted: status == 200, isRepeated: isRepeated)
    }

    private func event(in line: UnsafeBufferPointer<UInt8>) -> Int? {
        if let start = Self.index(after: mark, in: line) { return Self.number(at: start, in: line).map { Int($0) } }
        guard let count = number(after: #""syncCount":""#, in: line), count >= syncCountBase else { return nil }
        return Int(count - syncCountBase)
    }

    private func number(after key: StaticString, in line: UnsafeBufferPointer<UInt8>) -> Int64? {
        index(after: key, in: line).flatMap { Self.number(at: $0, in: line) }
    }

    private func index(after text: StaticString, in line: UnsafeBufferPointer<UInt8>) -> Int? {
        Self.index(after: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount), in: line)
    }

    private static func index(after text: [UInt8], in line: UnsafeBufferPointer<UInt8>) -> Int? {
        text.withUnsafeBufferPointer { index(after: $0, in: line) }
    }

    private static func index(after text: UnsafeBufferPointer<UInt8>, in line: UnsafeBufferPointer<UInt8>) -> Int? {
        guard let base = line.baseAddress, let wanted = text.baseAddress else { return nil }
        var start = 0
        while start + text.count <= line.count,
            let found = memchr(base + start, Int32(wanted[0]), line.count - text.count + 1 - start)
        {
            start = UnsafeRawPointer(found) - UnsafeRawPointer(base)
            if memcmp(base + start, wanted, text.count) == 0 { return start + text.count }
            start += 1
        }
        return nil
    }

    private static func number(at start: Int, in line: UnsafeBufferPointer<UInt8>) -> Int64? {
        var number: Int64 = 0
        var index = start
        while index < line.count, index - start < 18, (0x30...0x39).contains(line[index]) {
            number = number * 10 + Int64(line[index] & 15)
            index += 1
        }
        return index > start ? number : nil
    }
}
