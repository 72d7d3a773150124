/// Puts an answer together from the lines and bytes that libcurl reads.
struct PostAnswerReader {
    /// The names of the fields to keep, in lower case; further ones are not kept.
    private let keptNames: Set<String>
    /// The most bytes of heads, of informational answers too.
    static let headBytesMaximum = 65_536

    private var answer = PostAnswer()
    private var headBytes = 0
    private var hasFinalHead = false
    /// Whether the body is longer than what is kept.
    private(set) var isOverlong = false

    init(keptNames: Set<String>) { self.keptNames = keptNames }

    /// The answer, once its status and its header fields have arrived.
    var finalAnswer: PostAnswer? { hasFinalHead ? answer : nil }

    /// Takes a line of a head: a status line, a field, or the empty line at the end.
    ///
    /// - Returns: whether more is wanted.
    mutating func take(line: some Collection<UInt8>) -> Bool {
        headBytes += line.count
        guard headBytes <= Self.headBytesMaximum else { return false }
        keep(line: line)
        return true
    }

    private mutating func keep(line: some Collection<UInt8>) {
        let text = line.reversed().drop { $0 == 0x0A || $0 == 0x0D }.reversed()
        guard !text.isEmpty else {
            hasFinalHead = answer.status >= 200
            return
        }
        if text.starts(with: "HTTP/".utf8) {
            answer.status = Self.status(inStatusLine: text) ?? 0
            answer.fields = []
        } else if let colon = text.firstIndex(of: UInt8(ascii: ":")) {
            let name = String(decoding: text[..<colon], as: UTF8.self).lowercased()
            guard keptNames.contains(name) else { return }
            let value = text[text.index(after: colon)...].drop { $0 == 0x20 || $0 == 0x09 }
            let trimmed = value.reversed().drop { $0 == 0x20 || $0 == 0x09 }.reversed()
            answer.fields.append((name, String(decoding: trimmed, as: UTF8.self)))
        }
    }

    /// Takes a part of the body.
    ///
    /// - Returns: whether more is wanted.
    mutating func take(body bytes: UnsafeRawBufferPointer) -> Bool {
        let room = PostAnswer.bodyBytesMaximum - answer.body.count
        answer.body.append(contentsOf: bytes.prefix(room))
        if bytes.count > room { isOverlong = true }
        return !isOverlong
    }

    private static func status(inStatusLine line: some Sequence<UInt8>) -> Int? {
        let digits = line.drop { $0 != 0x20 }.dropFirst().prefix(3)
        return Int(String(decoding: Array(digits), as: UTF8.self))
    }
}
