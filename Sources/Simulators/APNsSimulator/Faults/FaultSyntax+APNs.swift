public import PushServiceSimulator

extension FaultSyntax {
    /// How faults of APNs are written: tokens are hexadecimal digits, reasons are Apple's or any other.
    public static let apns = FaultSyntax(lowercasesTokens: true) { status, reason, timestamp in
        FaultyAnswer(ScriptedAnswer(status: status ?? 200, reason: reason, timestampMilliseconds: timestamp))
    }
}

extension SimulatorFaults {
    /// Reads faults of a simulator of APNs.
    ///
    /// - Parameter bytes: the content of the file.
    /// - Throws: `SimulatorError` (`scriptInvalid`) with the number of the first line that is wrong.
    public init(parsing bytes: [UInt8]) throws(SimulatorError) { try self.init(parsing: bytes, as: .apns) }
}

extension FaultyAnswer {
    /// An answer of Apple's, where it is wrong.
    init(_ answer: ScriptedAnswer) { self.init(status: answer.status, reason: answer.reason, body: answer.body) }
}
