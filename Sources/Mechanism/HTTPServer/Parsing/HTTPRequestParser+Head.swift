extension HTTPRequestParser {
    private static let methodBytesMaximum = 32
    private static let lineEnding: HTTPRefusal = .malformed("a line does not end with CR LF (RFC 9112 section 2.2)")

    // MARK: The request line

    /// Reads `METHOD SP target SP HTTP/1.1`; nil if the fields follow.
    mutating func readRequestLine() -> Step? {
        // An empty line before the request is some clients' habit (RFC 9112 section 2.2).
        if lineBytes == 0, position < input.count, !OctetClass.isToken(input[position]),
            input[position] != OctetClass.carriageReturn
        {
            return refuse(.malformed("the request does not begin with a method"))
        }
        switch takeLine() {
        case .broken(let bytes):
            let isTooLong = lineBytes + bytes > headBytesMaximum
            return refuse(isTooLong ? .targetTooLong(bytesMaximum: headBytesMaximum) : Self.lineEnding)
        case .incomplete:
            guard lineBytes + pendingBytes <= headBytesMaximum else {
                return refuse(.targetTooLong(bytesMaximum: headBytesMaximum))
            }
            return .needsMore
        case .complete(let range):
            guard lineBytes <= headBytesMaximum else { return refuse(.targetTooLong(bytesMaximum: headBytesMaximum)) }
            if range.isEmpty, lineBytes == 2 { return nil }
            if let refusal = readRequestLine(input[range]) { return refuse(refusal) }
            part = .fields
            return nil
        }
    }

    private mutating func readRequestLine(_ line: ArraySlice<UInt8>) -> HTTPRefusal? {
        let parts = line.split(separator: OctetClass.space, omittingEmptySubsequences: false)
        guard parts.count == 3 else {
            return .malformed("the request line is not a method, a target and a version, with one space between each")
        }
        guard (1...Self.methodBytesMaximum).contains(parts[0].count), parts[0].allSatisfy(OctetClass.isToken) else {
            return .malformed("the method is no token of at most \(Self.methodBytesMaximum) characters")
        }
        guard !parts[1].isEmpty, parts[1].allSatisfy(OctetClass.isVisible) else {
            return .malformed("the target has a character that is not printable ASCII")
        }
        switch String(decoding: parts[2], as: UTF8.self) {
        case "HTTP/1.1": head.isVersionOneOne = true
        case "HTTP/1.0": head.isVersionOneOne = false
        case let other where other.hasPrefix("HTTP/") && other.utf8.dropFirst(5).allSatisfy(Self.isVersion):
            return .versionUnknown
        default: return .malformed("the request line does not end with a version of HTTP")
        }
        head.method = String(decoding: parts[0], as: UTF8.self)
        head.rawTarget = String(decoding: parts[1], as: UTF8.self)
        return nil
    }

    private static func isVersion(_ octet: UInt8) -> Bool { OctetClass.isDigit(octet) || octet == UInt8(ascii: ".") }

    // MARK: The fields

    /// Reads one field, or the empty line that ends the head; nil if another follows.
    mutating func readField() -> Step? {
        switch takeLine() {
        case .broken(let bytes):
            let isTooLong = lineBytes + bytes > headBytesMaximum
            return refuse(isTooLong ? .headTooLong(bytesMaximum: headBytesMaximum) : Self.lineEnding)
        case .incomplete:
            guard lineBytes + pendingBytes <= headBytesMaximum else {
                return refuse(.headTooLong(bytesMaximum: headBytesMaximum))
            }
            return .needsMore
        case .complete(let range):
            guard lineBytes <= headBytesMaximum, head.fields.count <= Self.fieldsMaximum else {
                return refuse(.headTooLong(bytesMaximum: headBytesMaximum))
            }
            if range.isEmpty { return endHead() }
            guard let field = Self.field(input[range]) else {
                return refuse(
                    .malformed(
                        "a header field is not a name, a colon and a value of UTF-8 on one line, without blanks "
                            + "before the colon (RFC 9112 section 5)"))
            }
            head.fields.append(field)
            return nil
        }
    }

    /// Reads a field; nil if it is not well-formed, or folded.
    static func field(_ line: ArraySlice<UInt8>) -> HTTPField? {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let name = line[..<colon]
        guard !name.isEmpty, name.allSatisfy(OctetClass.isToken) else { return nil }
        var value = line[(colon + 1)...]
        while let first = value.first, OctetClass.isBlank(first) { value.removeFirst() }
        while let last = value.last, OctetClass.isBlank(last) { value.removeLast() }
        guard value.allSatisfy(OctetClass.isFieldContent), let text = String(validating: value, as: UTF8.self) else {
            return nil
        }
        return HTTPField(String(decoding: name, as: UTF8.self).lowercased(), text)
    }

    // MARK: The whole head

    private mutating func endHead() -> Step {
        if let refusal = readHost() ?? readFraming() ?? readExpectation() { return refuse(refusal) }
        let options = head.values("connection").flatMap { $0.split(separator: ",") }
        head.closesConnection =
            !head.isVersionOneOne || options.contains { OctetClass.isWord($0.trimmingBlanks(), "close") }
        lineBytes = 0
        switch head.framing {
        case .none: part = .ended
        case .length(let count): part = .body(remaining: count)
        case .chunked: part = .chunkSize
        }
        return .head(head)
    }

    /// A request has one host (RFC 9112 section 3.2).
    private func readHost() -> HTTPRefusal? {
        let hosts = head.values("host")
        guard hosts.count == 1 || hosts.isEmpty && !head.isVersionOneOne else {
            return .malformed("there has to be one field Host (RFC 9112 section 3.2)")
        }
        guard let host = hosts.first, !HTTPHost.isWellFormed(host) else { return nil }
        return .malformed("the field Host is no name or address with an optional port")
    }

    /// Reads the length of the body, which must be given in one way only (RFC 9112 section 6.3).
    private mutating func readFraming() -> HTTPRefusal? {
        let lengths = head.values("content-length")
        let codings = head.values("transfer-encoding")
        guard codings.isEmpty else {
            guard lengths.isEmpty, codings.count == 1, head.isVersionOneOne else {
                return .malformed("the length of the body is given in two ways (RFC 9112 section 6.3)")
            }
            guard OctetClass.isWord(codings[0], "chunked") else { return .codingUnknown }
            head.framing = .chunked
            return nil
        }
        guard let text = lengths.first else { return nil }
        guard lengths.count == 1, (1...18).contains(text.utf8.count), text.utf8.allSatisfy(OctetClass.isDigit),
            let length = Int(text)
        else { return .malformed("Content-Length has to be there once, as up to 18 digits") }
        head.framing = length > 0 ? .length(length) : .none
        return nil
    }

    private mutating func readExpectation() -> HTTPRefusal? {
        let expectations = head.values("expect")
        guard !expectations.isEmpty else { return nil }
        guard expectations.count == 1, OctetClass.isWord(expectations[0], "100-continue") else {
            return .expectationUnknown
        }
        // HTTP/1.0 does not know it (RFC 9110 section 10.1.1).
        head.expectsContinue = head.isVersionOneOne
        return nil
    }
}

extension Substring {
    /// The text without blanks and tabs at its ends.
    fileprivate func trimmingBlanks() -> Substring {
        var text = self
        while let first = text.utf8.first, OctetClass.isBlank(first) { text.removeFirst() }
        while let last = text.utf8.last, OctetClass.isBlank(last) { text.removeLast() }
        return text
    }
}
