@testable import APNsTransport
@testable import ServiceClient

/// Reads an answer of APNs (lines of header fields, an empty line, the body), and an answer of a proxy.
///
/// Each push and each delivery must end once, and the books must balance. That holds for all answers in all orders,
/// over connections that come and go, and for pushes with any history. The choices are those of `PushServiceWorld`.
struct AnswerFuzzTarget: FuzzTarget {
    func run(_ input: FuzzInput) throws(FuzzFailure) {
        try readProxyAnswer(input)
        _ = AnswerParser().reason(inGoAway: input.text)
        var world = PushServiceWorld(answers: input.parts.map(Self.read), input)
        try world.run()
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
                Array(line[(colon + 1)...]).withUnsafeBufferPointer { _ = answer.add(name: name, value: $0) }
            }
        }
        let half = rest.count / 2
        for piece in [rest.prefix(half), rest.dropFirst(half)] {
            Array(piece).withUnsafeBytes { _ = answer.add(body: $0) }
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
}
