/// The result of a report that the user opened a push.
public enum OpenResult: String, Hashable, Sendable {
    /// It was counted.
    case counted
    /// It had been reported before, and counts once.
    case repeated
    /// The app has no such installation at this address; register it, and report again.
    case unknownDevice = "unknown-device"
    /// The push is too old.
    case expired
    /// The servers of the registry have issued no such receipt.
    case invalid
}

/// The body of `POST /v1/opens`.
struct OpenReportBody: Encodable {
    /// How many receipts a body may have.
    static let receiptsMaximum = 100
    /// How many bytes of receipts, so that the body keeps below 16 KiB with the other members.
    static let receiptBytesMaximum = 8_192

    let deviceId: String
    let token: String
    let receipts: [String]

    /// The bodies that report some receipts: most times one.
    static func bodies(deviceID: String, _ address: DeviceAddress, _ receipts: [String]) -> [OpenReportBody] {
        var lists: [[String]] = []
        var byteCount = 0
        for receipt in receipts {
            byteCount += receipt.utf8.count
            if let last = lists.last, last.count < receiptsMaximum, byteCount <= receiptBytesMaximum {
                lists[lists.count - 1].append(receipt)
            } else {
                lists.append([receipt])
                byteCount = receipt.utf8.count
            }
        }
        return lists.map { OpenReportBody(deviceId: deviceID, token: address.token, receipts: $0) }
    }
}

/// The answer of `POST /v1/opens`.
struct OpenReportAnswer: Decodable {
    let results: [String]
}
