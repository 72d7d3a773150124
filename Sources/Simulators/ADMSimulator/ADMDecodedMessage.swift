import Hashing
import JSON

/// The body of a request, read against the rules of Amazon's page.
struct ADMDecodedMessage: Equatable, Sendable {
    /// Why a body is no message.
    enum Refusal: Error, Equatable {
        case data
        case consolidationKey
        case expiration
        case checksum
        case tooLarge

        /// The answer.
        var answer: ADMAnswer {
            switch self {
            case .data: ADMAnswer(400, reason: "InvalidData")
            case .consolidationKey: ADMAnswer(400, reason: "InvalidConsolidationKey")
            case .expiration: ADMAnswer(400, reason: "InvalidExpiration")
            case .checksum: ADMAnswer(400, reason: "InvalidChecksum")
            case .tooLarge: ADMAnswer(413, reason: "MessageTooLarge")
            }
        }
    }

    private static let dataBytesMaximum = 6 * 1_024
    private static let consolidationKeyMaximum = 64
    private static let expiresAfterSeconds: ClosedRange<Int64> = 60...2_678_400
    private static let names: [StaticString] = ["data", "consolidationKey", "expiresAfter", "md5"]

    /// The texts of `data`.
    var data: [String: String] = [:]
    /// `consolidationKey`.
    var consolidationKey: String?
    /// `expiresAfter`, in seconds.
    var expiresAfter: Int64?

    /// Reads a body.
    static func read(_ body: [UInt8]) -> Result<ADMDecodedMessage, Refusal> {
        Result { () throws(Refusal) in try decode(body) }
    }

    private static func decode(_ body: [UInt8]) throws(Refusal) -> ADMDecodedMessage {
        guard let object = (try? JSONParser(depthMaximum: 8).parse(body))?.object,
            object.firstMember(notAmong: names) == nil, let data = object["data"]?.object
        else { throw .data }
        var message = ADMDecodedMessage()
        for member in data {
            guard let text = member.value.string, message.data.updateValue(text, forKey: member.key) == nil else {
                throw .data
            }
        }
        var written: [UInt8] = []
        object["data"]?.appendMinified(to: &written)
        guard written.count <= dataBytesMaximum else { throw .tooLarge }
        if let key = object["consolidationKey"] {
            guard let text = key.string, text.unicodeScalars.count <= consolidationKeyMaximum else {
                throw .consolidationKey
            }
            message.consolidationKey = text
        }
        if let expiration = object["expiresAfter"] {
            guard let seconds = expiration.int64, expiresAfterSeconds.contains(seconds) else { throw .expiration }
            message.expiresAfter = seconds
        }
        // The checksum is over a form of the data that is not checked here, so a sender has to leave it out.
        guard object["md5"] == nil else { throw .checksum }
        return message
    }

    /// 128 bits that tell the message to a registration ID from others, whatever time is left.
    func identity(to registrationID: String) -> UInt128 {
        var digest = WordDigest()
        digest.mix(registrationID)
        digest.mix(consolidationKey ?? "")
        for (key, value) in data.sorted(by: { $0.key < $1.key }) {
            digest.mix(key)
            digest.mix(value)
        }
        digest.finish()
        return UInt128(digest.high) << 64 | UInt128(digest.low)
    }
}
