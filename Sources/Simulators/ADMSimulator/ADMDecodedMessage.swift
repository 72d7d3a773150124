import Hashing
import JSON
import PushServiceSimulator

/// The body of a request, read against the rules of Amazon's page.
struct ADMDecodedMessage: Sendable {
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
    ///
    /// - Throws: the answer to a body that is no message.
    init(_ body: [UInt8]) throws(ADMRefusal) {
        guard let object = (try? JSONParser(depthMaximum: 8).parse(body))?.object,
            object.firstMember(notAmong: Self.names) == nil, let data = object["data"]?.object
        else { throw ADMRefusal(400, "InvalidData") }
        for member in data {
            guard let text = member.value.string, self.data.updateValue(text, forKey: member.key) == nil else {
                throw ADMRefusal(400, "InvalidData")
            }
        }
        var written: [UInt8] = []
        object["data"]?.appendMinified(to: &written)
        guard written.count <= Self.dataBytesMaximum else { throw ADMRefusal(413, "MessageTooLarge") }
        if let key = object["consolidationKey"] {
            guard let text = key.string, text.unicodeScalars.count <= Self.consolidationKeyMaximum else {
                throw ADMRefusal(400, "InvalidConsolidationKey")
            }
            consolidationKey = text
        }
        if let expiration = object["expiresAfter"] {
            guard let seconds = expiration.int64, Self.expiresAfterSeconds.contains(seconds) else {
                throw ADMRefusal(400, "InvalidExpiration")
            }
            expiresAfter = seconds
        }
        // The checksum is over a form of the data that is not checked here, so a sender has to leave it out.
        guard object["md5"] == nil else { throw ADMRefusal(400, "InvalidChecksum") }
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

/// The answer to a request that is refused.
struct ADMRefusal: Error {
    let answer: ServiceAnswer

    init(_ answer: ServiceAnswer) { self.answer = answer }

    init(_ status: Int, _ reason: String) { answer = .adm(status, reason: reason) }
}
