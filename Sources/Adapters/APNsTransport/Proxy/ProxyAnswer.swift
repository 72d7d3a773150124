/// The answer of a proxy to CONNECT, put together from the bytes as they come: a pure state machine.
struct ProxyAnswer {
    /// What the bytes so far say.
    enum Verdict: Hashable {
        /// The head of the answer is not complete.
        case incomplete
        /// The tunnel is there.
        case established
        /// The proxy answered with another status; the reason is fit for a log.
        case refused(status: Int, reason: String)
        /// The bytes are no answer of an HTTP proxy.
        case garbage(String)
    }

    /// What is read of an answer's head at most.
    static let headBytesMaximum = 16_384
    private static let reasonBytesMaximum = 64

    private var head: [UInt8] = []

    /// Takes bytes in.
    ///
    /// - Parameter bytes: what was read; nothing may follow the head of an answer that establishes a tunnel, because in
    ///   TLS the client speaks first.
    /// - Returns: what all bytes so far say.
    mutating func add(_ bytes: some Sequence<UInt8>) -> Verdict {
        head += bytes
        let start = Array("HTTP/1.".utf8)
        guard zip(head, start).allSatisfy({ $0 == $1 }) else { return .garbage("it does not speak HTTP") }
        guard let end = endOfHead() else {
            return head.count > Self.headBytesMaximum ? .garbage("its answer does not end") : .incomplete
        }
        let line = head.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
        let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count >= 2, words[1].count == 3, let status = Int(String(decoding: words[1], as: UTF8.self)),
            status >= 100
        else { return .garbage("it does not speak HTTP") }
        guard (200...299).contains(status) else {
            let reason = words.count == 3 ? words[2].prefix(Self.reasonBytesMaximum) : []
            let printable = reason.filter { (0x20..<0x7f).contains($0) }
            return .refused(status: status, reason: String(decoding: printable, as: UTF8.self))
        }
        return end == head.count ? .established : .garbage("it sent bytes before the tunnel was used")
    }

    /// Where the empty line ends that ends the head; line ends may lack their carriage return.
    private func endOfHead() -> Int? {
        var isLineEmpty = false
        for (index, byte) in head.enumerated() {
            if byte == UInt8(ascii: "\n") {
                if isLineEmpty { return index + 1 }
                isLineEmpty = true
            } else if byte != UInt8(ascii: "\r") {
                isLineEmpty = false
            }
        }
        return nil
    }
}
