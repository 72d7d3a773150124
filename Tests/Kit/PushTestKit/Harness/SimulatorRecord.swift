import Foundation
public import JSON

/// Reads the record that the simulator writes (`--record`), which grows while it runs.
public struct SimulatorRecord {
    /// A request that the simulator answered.
    public struct Request {
        /// The digits of the device token.
        public let token: String
        /// When it was answered, in microseconds since 1970.
        public let timeMicroseconds: Int64
        /// The status of the answer.
        public let status: Int64
        /// The reason of a refusal.
        public let reason: String?
        /// The value of `apns-collapse-id`; nil if the request had none, or goes to another service.
        public let collapseID: String?
        /// The payload; nil if it was refused before it was read.
        public let payload: JSONValue?
    }

    private static var pieceBytes: Int { 8 << 20 }

    private let path: String
    private var offset: UInt64 = 0
    /// The beginning of a line whose end has not been written yet.
    private var rest: [UInt8] = []
    private let parser = JSONParser()

    /// Reads from the beginning of a file.
    public init(path: String) { self.path = path }

    /// Reads on.
    ///
    /// - Parameter keep: extracts a value from a request; nil for none. The payload is good during this call only.
    /// - Returns: some extracted values; empty if there are no more, or not yet a file.
    /// - Throws: an error of Foundation if the file cannot be read, `SimulatorRecordError` if a line is not the
    ///   simulator's.
    public mutating func next<Kept>(_ keep: (Request) -> Kept?) throws -> [Kept] {
        guard let file = FileHandle(forReadingAtPath: path) else { return [] }
        defer { try? file.close() }
        try file.seek(toOffset: offset)
        var kept: [Kept] = []
        while kept.isEmpty, let data = try file.read(upToCount: Self.pieceBytes), !data.isEmpty {
            offset += UInt64(data.count)
            rest += data
            var lines = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            rest = Array(lines.removeLast())
            for line in lines { if let value = keep(try request(Array(line))) { kept.append(value) } }
        }
        return kept
    }

    private func request(_ line: [UInt8]) throws -> Request {
        guard let record = try? parser.parse(line), let token = record["token"]?.string,
            let microseconds = record["time_us"]?.int64, let status = record["status"]?.int64
        else { throw SimulatorRecordError() }
        return Request(
            token: token, timeMicroseconds: microseconds, status: status, reason: record["reason"]?.string,
            collapseID: record["collapse_id"]?.string, payload: record["payload"])
    }
}

/// A line of a record is not one that the simulator writes.
public struct SimulatorRecordError: Error, CustomStringConvertible {
    /// A sentence that says so.
    public var description: String { "the simulator's record has a line that is none" }
}
