import Essentials

/// Brings the text of a key into the form that PEM has, where it is clear what was meant.
///
/// Keys go through environment variables, secret stores and editors, which write the line feeds as `\n` or `\\n`, leave
/// them out, turn them into carriage returns, indent the lines, put quotes around the whole, or encode it in base64
/// once more. Between the two lines of a block only base64 has a meaning (RFC 7468 section 3), so all that is dropped.
enum PEMText {
    /// The length of a line of base64 (RFC 7468 section 2).
    private static let lineLength = 64
    /// The smallest key in DER is longer.
    private static let derBytesMinimum = 40

    /// The blocks of the text as PEM has them; nil if nothing is to be changed, or it is not clear how.
    static func repaired(_ bytes: [UInt8]) -> [UInt8]? {
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.contains("-----BEGIN ") else { return unwrapped(bytes) }
        var result = ""
        var rest = text[...]
        while let block = nextBlock(in: &rest) {
            guard let digits = base64(block.content) else { return nil }
            result += "-----BEGIN \(block.label)-----\n"
            var line = digits[...]
            while !line.isEmpty {
                result += String(decoding: line.prefix(lineLength), as: UTF8.self) + "\n"
                line = line.dropFirst(lineLength)
            }
            result += "-----END \(block.label)-----\n"
        }
        return result.isEmpty || result == text ? nil : Array(result.utf8)
    }

    /// A cause, as the end of a sentence, why the text of a key cannot be read; nil if none is known.
    static func cause(_ bytes: [UInt8]) -> String? {
        if bytes.starts(with: [0xff, 0xfe]) || bytes.starts(with: [0xfe, 0xff]) {
            return "the file is UTF-16, as editors of Windows write it; save it as UTF-8"
        }
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.contains("-----BEGIN ") else { return nil }
        guard text.contains("-----END ") else { return "the text ends before its END line, so it is cut off" }
        if let label = ["CERTIFICATE", "PUBLIC KEY"].first(where: { text.contains("-----BEGIN \($0)-----") }),
            !text.contains("PRIVATE KEY-----")
        {
            return "the text is a \(label.lowercased()), not a private key"
        }
        var rest = text[...]
        guard let block = nextBlock(in: &rest), base64(block.content) == nil, !text.contains("ENCRYPTED") else {
            return nil
        }
        return "between the BEGIN and END lines are other characters than base64"
    }

    private static func nextBlock(in rest: inout Substring) -> (label: String, content: Substring)? {
        guard let begin = rest.firstRange(of: "-----BEGIN "),
            let label = rest[begin.upperBound...].firstRange(of: "-----")
        else { return nil }
        let name = String(rest[begin.upperBound..<label.lowerBound])
        guard name.utf8.count <= 32, name.utf8.allSatisfy({ (65...90).contains($0) || $0 == 0x20 }),
            let end = rest[label.upperBound...].firstRange(of: "-----END \(name)-----")
        else { return nil }
        let content = rest[label.upperBound..<end.lowerBound]
        rest = rest[end.upperBound...]
        return (name, content)
    }

    /// The digits without what stands for ends of lines and for indentation; nil if there is anything else.
    private static func base64(_ content: Substring) -> [UInt8]? {
        var digits: [UInt8] = []
        var isEscaped = false
        for byte in content.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): isEscaped = true
            case UInt8(ascii: "n") where isEscaped, UInt8(ascii: "r") where isEscaped,
                UInt8(ascii: "t") where isEscaped:
                isEscaped = false
            case 0x20, 0x09...0x0d, UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: ","): isEscaped = false
            case 48...57, 65...90, 97...122, UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="):
                guard !isEscaped else { return nil }
                digits.append(byte)
            default: return nil
            }
        }
        return digits.isEmpty ? nil : digits
    }

    /// Reads a text without a block: PEM in base64, or the content of a block without its first and last line.
    private static func unwrapped(_ bytes: [UInt8]) -> [UInt8]? {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let digits = base64(text[...]), let decoded = digits.withUnsafeBufferPointer(Base64.decode) else {
            return nil
        }
        if String(decoding: decoded.prefix(64), as: UTF8.self).contains("-----BEGIN ") {
            return repaired(decoded) ?? decoded
        }
        // A sequence of DER (ITU-T X.690 section 8.9), as PKCS#8 is.
        guard decoded.count >= derBytesMinimum, decoded[0] == 0x30 else { return nil }
        let block =
            "-----BEGIN PRIVATE KEY-----\n\(String(decoding: digits, as: UTF8.self))\n-----END PRIVATE KEY-----\n"
        return repaired(Array(block.utf8))
    }
}
