public import PushServiceSimulator

extension FaultSyntax {
    /// How faults of APNs are written: tokens are hexadecimal digits, reasons are Apple's or any other.
    public static let apns = FaultSyntax(lowercasesTokens: true) { status, reason, timestamp in
        .apns(status ?? 200, reason, timestampMilliseconds: timestamp)
    }
}

extension SimulatorFaults {
    /// Reads faults of a simulator of APNs.
    ///
    /// - Parameter bytes: the content of the file.
    /// - Throws: `SimulatorError` (`scriptInvalid`) with the number of the first line that is wrong.
    public init(parsing bytes: [UInt8]) throws(SimulatorError) { try self.init(parsing: bytes, as: .apns) }
}

extension ServiceAnswer {
    /// An answer as APNs writes it, whose body is empty for an accepted push.
    ///
    /// - Parameters:
    ///   - status: the HTTP status.
    ///   - reason: the value of `reason`; nil if the push is accepted.
    ///   - timestampMilliseconds: the value of `timestamp`: since when the device token is dead.
    /// - Returns: the answer.
    static func apns(_ status: Int, _ reason: String?, timestampMilliseconds: Int64? = nil) -> ServiceAnswer {
        let timestamp = timestampMilliseconds.map { ",\"timestamp\":\($0)" } ?? ""
        let body = reason.map { "{\"reason\":\"\($0)\"\(timestamp)}" } ?? ""
        return ServiceAnswer(status: status, reason: reason, body: Array(body.utf8))
    }

    /// The answer to a push that is accepted.
    static var accepted: ServiceAnswer { apns(200, nil) }

    /// The answer to a push that is refused.
    static func apns(_ rejection: Rejection, timestampMilliseconds: Int64? = nil) -> ServiceAnswer {
        apns(rejection.status, rejection.rawValue, timestampMilliseconds: timestampMilliseconds)
    }
}
