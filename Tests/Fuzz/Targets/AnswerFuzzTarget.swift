@testable import APNsTransport
@testable import PushCore

/// Reads an answer of APNs (lines of header fields, an empty line, the body), and an answer of a proxy.
///
/// Whatever was answered, to a push with whatever history, its delivery must end, and the books must balance.
struct AnswerFuzzTarget: FuzzTarget {
    private static let delaysMilliseconds: [Int64] = [1_000, 60_000, 900_000]

    func run(_ input: FuzzInput) throws(FuzzFailure) {
        var input = input
        try readProxyAnswer(input)
        let parser = AnswerParser()
        _ = parser.reason(inGoAway: input.text)
        let outcomes = input.parts.map { part in
            let answer = Self.read(part)
            return PushOutcome.answered(
                parser.answer(
                    status: answer.status, body: answer.body, retryAfterSeconds: answer.retryAfterSeconds))
        }
        try decide(outcomes, &input)
    }

    private static func read(_ part: [UInt8]) -> PartialAnswer {
        var answer = PartialAnswer()
        answer.reset(stream: 1)
        var rest = part[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            let line = rest[..<end]
            rest = rest[(end + 1)...]
            // The name of a field may begin with a colon.
            guard let colon = line.dropFirst().firstIndex(of: UInt8(ascii: ":")) else { break }
            Array(line[..<colon]).withUnsafeBufferPointer { name in
                Array(line[(colon + 1)...]).withUnsafeBufferPointer { answer.add(name: name, value: $0) }
            }
        }
        let half = rest.count / 2
        for piece in [rest.prefix(half), rest.dropFirst(half)] {
            Array(piece).withUnsafeBytes { answer.add(body: $0) }
        }
        return answer
    }

    private func readProxyAnswer(_ input: FuzzInput) throws(FuzzFailure) {
        var whole = ProxyAnswer()
        let verdict = whole.add(input.text)
        guard verdict == .established else { return }
        var pieces = ProxyAnswer()
        var last = ProxyAnswer.Verdict.incomplete
        for byte in input.text { last = pieces.add([byte]) }
        try promise(last == verdict, "a proxy's answer in pieces is \(last), and \(verdict) as a whole")
    }

    /// Answers the pushes of one delivery, whose history is any that a parked copy may have.
    private func decide(_ outcomes: [PushOutcome], _ input: inout FuzzInput) throws(FuzzFailure) {
        let headers = EventFuzzTarget.headers(&input)
        let delivery = Delivery(
            tag: DeliveryTag(epoch: 1, number: 1), lane: .work, isRedelivered: false, exchange: "",
            routingKey: "test", message: Message(headers: headers, body: Array("{}".utf8)))
        let now: Int64 = 1_700_000_000_000
        let app = AppRoute(
            index: 0, name: "chat", bundleID: "com.example.chat", productionRoute: 0, sandboxRoute: 1, webRoute: 2)
        let content = PushContent(
            payload: Array("{}".utf8), topic: "com.example.chat", pushType: .alert, priority: .immediate,
            expirationSeconds: nil, collapseID: nil)
        var machine = DispatchStateMachine(
            appCount: 1,
            policy: RetryPolicy(
                delaysMilliseconds: Self.delaysMilliseconds, attemptsMaximum: 3, ageMaximumMilliseconds: 3_600_000,
                serverErrorDelayMilliseconds: 900_000),
            queues: DispatchQueues(
                retry: Dictionary(uniqueKeysWithValues: Self.delaysMilliseconds.map { ($0, "retry.\($0)") }),
                fanout: "fanout", deadLetter: "dead"), limits: DispatchLimits())
        let devices = outcomes.indices.compactMap { index in
            DeviceToken(bytes: Array("token \(index)".utf8)).map { token in
                Recipient(deviceID: "device-\(index)", platform: .apns, token: token, app: "chat")
            }
        }
        var actions = DispatchActions()
        machine.jobArrived(
            DispatchJob(
                tags: [delivery.tag], message: delivery.message,
                parking: ParkingRecord(of: delivery, nowMilliseconds: now),
                identity: PushIdentity(source: "fuzz", identifier: "1"),
                renderings: [AppRendering(app: app, content: content)], devices: devices), into: &actions)
        machine.sendWaiting(nowMilliseconds: now, into: &actions)
        // Each push gets its answer; pushes that are sent again get another, as often as they are.
        var step = 0
        while !actions.sends.isEmpty || !actions.publishes.isEmpty {
            let sends = actions.sends
            let publishes = actions.publishes
            actions.sends = []
            actions.publishes = []
            for send in sends {
                let outcome = input.choice([
                    outcomes[step % outcomes.count], .ambiguous("lost"), .notProcessed("refused"),
                ])
                step += 1
                machine.pushEnded(
                    PushResult(identifier: send.identifier, outcome: outcome, durationNanoseconds: 1),
                    nowMilliseconds: now, into: &actions)
            }
            for publish in publishes { machine.publishEnded(publish.identifier, .confirmed, into: &actions) }
            machine.sendWaiting(nowMilliseconds: now, into: &actions)
            try promise(step < 10_000, "the pushes of one delivery are sent again for ever")
        }
        try promise(actions.settles == [delivery.tag], "the delivery was settled as \(actions.settles)")
        try promise(machine.jobCount == 0 && machine.pushesInFlight == 0, "something is left of the delivery")
        try promise(machine.ledgers.allSatisfy { $0.isBalanced && $0.inFlight == 0 }, "\(machine.ledgers)")
    }
}
