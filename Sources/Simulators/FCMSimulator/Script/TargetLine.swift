import PushServiceSimulator

/// One line of a script, read and checked.
struct TargetLine: Equatable {
    private static let delayMillisecondsMaximum: Int64 = 86_400_000
    private static let memberNames: Set<String> = [
        "token", "fid", "answer", "reason", "status", "retry_after", "times", "delay",
    ]

    /// The kind of address, of one device.
    let kind: FCMTarget.Kind
    /// The text with which the addresses begin.
    let beginning: String
    /// The answer to the messages.
    let answer: TargetAnswer
    /// For how many messages the step lasts; nil means for all that follow.
    let times: Int?
    /// How much later than usual the answer comes.
    let delayMilliseconds: Int64

    /// Reads a line.
    ///
    /// - Throws: `SimulatorError` with the problem, without the line's number.
    init(parsing line: [UInt8]) throws(SimulatorError) {
        guard let node = JSONNode.parse(line), case .object(let members) = node else {
            throw Self.invalid("it has to be one JSON object")
        }
        if let unknown = members.first(where: { !Self.memberNames.contains($0.name) })?.name {
            throw Self.invalid("\"\(unknown)\" is unknown; a line has \(Self.memberNames.sorted())")
        }
        switch (node["token"]?.text, node["fid"]?.text) {
        case (let token?, nil): (kind, beginning) = (.token, token)
        case (nil, let fid?): (kind, beginning) = (.fid, fid)
        default: throw Self.invalid("it needs \"token\" or \"fid\", the text with which the addresses begin")
        }
        times = try Self.integer(node, "times", 1...Int64(Int32.max)).map { Int($0) }
        delayMilliseconds = try Self.integer(node, "delay", 0...Self.delayMillisecondsMaximum) ?? 0
        let status = try Self.integer(node, "status", 200...599).map { Int($0) }
        answer = try TargetAnswer.named(
            node["answer"]?.text, reason: node["reason"]?.text, status: status,
            retryAfter: node["retry_after"]?.text ?? node["retry_after"]?.integer.map { String($0) })
    }

    private static func integer(
        _ node: JSONNode, _ name: String, _ range: ClosedRange<Int64>
    ) throws(SimulatorError) -> Int64? {
        guard let value = node[name] else { return nil }
        guard let number = value.integer, range.contains(number) else {
            throw invalid("\"\(name)\" has to be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private static func invalid(_ message: String) -> SimulatorError { SimulatorError(.scriptInvalid, message) }
}
