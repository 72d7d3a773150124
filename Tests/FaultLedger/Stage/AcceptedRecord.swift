import Foundation
import JSON

/// Reads the simulator's record, which grows while the simulator runs.
struct AcceptedRecord {
    private static let chunkBytes = 8 << 20
    /// The reasons for which a device may be removed.
    private static let deadReasons: Set<String> = ["Unregistered", "ExpiredToken", "BadDeviceToken"]

    /// The tokens that have been called dead in what was read so far.
    private(set) var deadTokens: Set<String> = []

    private let path: String
    private var offset: UInt64 = 0
    /// The beginning of a line whose end has not been written yet.
    private var rest: [UInt8] = []
    private let parser = JSONParser()

    /// Reads from the beginning of a file.
    init(path: String) { self.path = path }

    /// Some of what was accepted since the last call; empty if there is no more.
    ///
    /// - Throws: an error of Foundation if the file cannot be read, `StageFailure` if a line is not the simulator's.
    mutating func next() throws -> [AcceptedPush] {
        guard let file = FileHandle(forReadingAtPath: path) else { return [] }
        defer { try? file.close() }
        try file.seek(toOffset: offset)
        var pushes: [AcceptedPush] = []
        while pushes.isEmpty, let data = try file.read(upToCount: Self.chunkBytes), !data.isEmpty {
            offset += UInt64(data.count)
            rest += data
            var lines = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            rest = Array(lines.removeLast())
            for line in lines { if let push = try push(Array(line)) { pushes.append(push) } }
        }
        return pushes
    }

    private mutating func push(_ line: [UInt8]) throws -> AcceptedPush? {
        guard let record = try? parser.parse(line), let token = record["token"]?.string,
            let milliseconds = record["time_ms"]?.int64
        else { throw StageFailure("the simulator's record has a line that is none") }
        guard record["status"]?.int64 == 200 else {
            if let reason = record["reason"]?.string, Self.deadReasons.contains(reason) { deadTokens.insert(token) }
            return nil
        }
        return AcceptedPush(token: token, content: Self.content(record["payload"]), timeMilliseconds: milliseconds)
    }

    private static func content(_ payload: JSONValue?) -> AcceptedPush.Content {
        if let serial = payload?["serial"]?.int64 { return .request(number: Int(serial)) }
        if let name = payload?["ck"]?["qry"]?["rid"]?.string, let number = Int(name.dropFirst()) {
            return .request(number: number)
        }
        // Amazon's clients read the sync count as a string.
        guard let data = payload?["data"], let identity = data["identityId"]?.string,
            let syncCount = data["syncCount"]?.string.flatMap({ Int($0) }) ?? data["syncCount"]?.int64.map({ Int($0) })
        else { return .other }
        return .change(identity: identity, syncCount: syncCount)
    }
}
