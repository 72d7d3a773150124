import Essentials

/// What leads to a client's notifications, as its URL has it: whoever knows it may fetch them.
///
/// The registry keeps only the device's token, from which the secret does not follow without its `clientId`.
struct CourierSecret: Hashable, Sendable {
    /// 16 bytes that are random, or follow from the client's name, and 16 bytes that prove that we gave them out.
    let bytes: [UInt8]

    /// The secret in a URL.
    var text: String { Base64URL.encode(bytes) }
}
