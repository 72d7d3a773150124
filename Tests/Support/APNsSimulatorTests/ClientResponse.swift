/// How a request ended for the test's client.
enum ClientResponse: Sendable, Equatable {
    /// It was answered.
    case answered(status: Int, apnsID: String, contentType: String?, body: String)
    /// The stream was reset, with the code of RFC 9113, section 7.
    case reset(UInt32)
    /// The connection ended first.
    case closed

    /// The status, or nil if there was no answer.
    var status: Int? {
        guard case .answered(let status, _, _, _) = self else { return nil }
        return status
    }

    /// The body, or nil if there was no answer.
    var body: String? {
        guard case .answered(_, _, _, let body) = self else { return nil }
        return body
    }

    /// The header `apns-id`, or nil if there was no answer.
    var apnsID: String? {
        guard case .answered(_, let apnsID, _, _) = self else { return nil }
        return apnsID
    }
}
