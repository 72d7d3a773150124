import JSON
import PushTestKit

/// The part of a simulator's record that the ledger needs: the accepted pushes, and the tokens that were called dead.
struct AcceptedRecord {
    /// The tokens that have been called dead in what was read so far.
    private(set) var deadTokens: Set<String> = []

    private let service: ServiceKind
    private var record: SimulatorRecord

    /// Reads from the beginning of a file.
    ///
    /// - Parameters:
    ///   - service: the service of the record.
    ///   - path: the file.
    init(of service: ServiceKind, path: String) {
        self.service = service
        record = SimulatorRecord(path: path)
    }

    /// Some of what was accepted since the last call; empty if there is no more.
    ///
    /// - Throws: an error of Foundation if the file cannot be read, `SimulatorRecordError` if a line is not the
    ///   simulator's.
    mutating func next() throws -> [AcceptedPush] {
        var dead: Set<String> = []
        defer { deadTokens.formUnion(dead) }
        let reader = PayloadReader(service)
        let deadReasons = service.deadReasons
        return try record.next { request in
            if (200..<300).contains(request.status) {
                return AcceptedPush(
                    token: request.token, content: reader.content(of: request.payload),
                    timeMilliseconds: request.timeMicroseconds / 1_000, isAlert: reader.isAlert(request.payload),
                    replacementID: request.collapseID ?? reader.tag(of: request.payload))
            }
            if let reason = request.reason, deadReasons.contains(reason) { dead.insert(request.token) }
            return nil
        }
    }
}

/// Finds out what a push is about, in the words of its service.
struct PayloadReader {
    private let service: ServiceKind
    private let parser = JSONParser()

    init(_ service: ServiceKind) { self.service = service }

    /// Returns the subject of a push.
    ///
    /// - Parameter payload: the recorded payload of APNs, request of FCM, or plaintext of a browser.
    /// - Returns: the event of the load; `other` if the load has none like it.
    func content(of payload: JSONValue?) -> AcceptedPush.Content {
        // The app's members stand at the top for APNs, and in `data` for the others; for FCM all of it is text.
        let data = service == .fcm ? payload?["message"]?["data"] : payload?["data"]
        let added = service == .apns ? payload : data
        if let serial = Self.number(added?["serial"]) { return .request(number: serial) }
        if let name = recordName(in: added?["ck"]), let number = Int(name.dropFirst()) {
            return .request(number: number)
        }
        // Amazon's clients read the sync count as a text.
        guard let identity = data?["identityId"]?.string, let syncCount = Self.number(data?["syncCount"]) else {
            return .other
        }
        return .change(identity: identity, syncCount: syncCount)
    }

    /// Whether a push has a text that the device shows.
    func isAlert(_ payload: JSONValue?) -> Bool {
        switch service {
        case .apns: payload?["aps"]?["alert"] != nil
        case .fcm: (shown(payload) ?? payload?["message"]?["notification"]) != nil
        case .webpush: shown(payload)?["title"] != nil
        }
    }

    /// The tag of a push, by which the device lets it take the place of an earlier one.
    func tag(of payload: JSONValue?) -> String? { shown(payload)?["tag"]?.string }

    /// What a device shows, of Android or of a browser.
    private func shown(_ payload: JSONValue?) -> JSONValue? {
        switch service {
        case .apns: nil
        case .fcm: payload?["message"]?["android"]?["notification"]
        case .webpush: payload?["notification"]
        }
    }

    private func recordName(in details: JSONValue?) -> String? {
        guard let text = details?.string else { return details?["qry"]?["rid"]?.string }
        return (try? parser.parse(Array(text.utf8)))?["qry"]?["rid"]?.string
    }

    private static func number(_ value: JSONValue?) -> Int? {
        value?.int64.map { Int($0) } ?? value?.string.flatMap { Int($0) }
    }
}
