/// A fault, and whom it befalls.
struct FaultRule: Hashable, Sendable {
    /// What happens.
    var fault: Fault
    /// The connection, counted from 1; nil for each.
    var connection: Int?
    /// How many requests a connection has had before the first that it befalls.
    var after = 0
    /// The lowercase hexadecimal digits with which the device tokens begin.
    var tokenDigits: [UInt8] = []
    /// Whether it befalls only requests that are rejected.
    var needsRejection = false
    /// How likely it is, each time that all the rest holds: 0 to 1.
    var probability = 1.0
    /// How often it happens; nil for as often as it can.
    var times: Int?

    func befalls(connection number: Int) -> Bool {
        fault.befallsConnections && (connection ?? number) == number
    }

    func befalls(_ request: FaultPlan.Request) -> Bool {
        !fault.befallsConnections && (connection ?? request.connection) == request.connection
            && request.number > after && needsRejection == request.isRejected
            && request.tokenDigits.starts(with: tokenDigits)
    }
}
