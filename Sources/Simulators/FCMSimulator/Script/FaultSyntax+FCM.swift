public import PushServiceSimulator

extension FaultSyntax {
    /// How faults of FCM are written: tokens as they are, `"on":"oauth"` for requests for an access token, and the
    /// names of `FCMRefusal` and `TokenRefusal` as reasons.
    public static let fcm = FaultSyntax(
        furtherTriggers: ["oauth": .authorization], lowercasesTokens: false
    ) { status, reason, _ in
        // The answers of a project of no particular name: a fault is read before it is known for whom.
        let project = FCMProject(id: "project", number: "1", messagesPerMinute: 600_000)
        if let refusal = FCMRefusal(rawValue: reason) { return refusal.answer(project, status: status) }
        return TokenRefusal(rawValue: reason)?.answer(status: status)
    }
}

extension SimulatorFaults {
    /// Reads faults of a simulator of FCM.
    ///
    /// - Parameter bytes: the content of the file.
    /// - Throws: `SimulatorError` (`scriptInvalid`) with the number of the first line that is wrong.
    public init(parsingFCM bytes: [UInt8]) throws(SimulatorError) { try self.init(parsing: bytes, as: .fcm) }
}
