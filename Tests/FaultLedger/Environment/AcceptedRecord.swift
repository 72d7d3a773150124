import JSON
import PushTestKit

/// What the ledger needs of the simulator's record: what was accepted, and which tokens were called dead.
struct AcceptedRecord {
    /// The reasons for which a device may be removed.
    private static let deadReasons: Set<String> = ["Unregistered", "ExpiredToken", "BadDeviceToken"]

    /// The tokens that have been called dead in what was read so far.
    private(set) var deadTokens: Set<String> = []

    private var record: SimulatorRecord

    /// Reads from the beginning of a file.
    init(path: String) { record = SimulatorRecord(path: path) }

    /// Some of what was accepted since the last call; empty if there is no more.
    ///
    /// - Throws: an error of Foundation if the file cannot be read, `SimulatorRecordError` if a line is not the
    ///   simulator's.
    mutating func next() throws -> [AcceptedPush] {
        var dead: Set<String> = []
        defer { deadTokens.formUnion(dead) }
        return try record.next { request in
            if request.status == 200 { return Self.push(request) }
            if let reason = request.reason, Self.deadReasons.contains(reason) { dead.insert(request.token) }
            return nil
        }
    }

    private static func push(_ request: SimulatorRecord.Request) -> AcceptedPush {
        AcceptedPush(
            token: request.token, content: content(request.payload),
            timeMilliseconds: request.timeMicroseconds / 1_000)
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
