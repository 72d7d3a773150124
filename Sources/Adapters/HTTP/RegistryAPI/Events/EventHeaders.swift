import Essentials
import HTTPServer
import Messages

/// The attributes of an event in binary mode: the header fields `ce-NAME` (CloudEvents 1.0.2, "HTTP Protocol Binding",
/// section 3.1.3).
enum EventHeaders {
    /// How the attributes are called in a message, which RabbitMQ hands on as they are.
    static let prefix = "cloudEvents_"
    private static let fieldPrefix = "ce-"

    /// The attributes of a request, as headers of a message; empty if it is in another mode.
    ///
    /// - Throws: `NativeProblem` for one that is there twice or cannot be decoded, and without a version.
    static func attributes(_ fields: [HTTPField]) throws(NativeProblem) -> [MessageHeader] {
        var headers: [MessageHeader] = []
        for field in fields where field.name.hasPrefix(fieldPrefix) {
            let name = prefix + field.name.dropFirst(fieldPrefix.count)
            guard !headers.contains(where: { $0.name == name }) else {
                throw NativeProblem(.invalid, "The header \(field.name.prefix(64)) is there twice.")
            }
            guard let value = decoded(field.value) else {
                throw NativeProblem(
                    .invalid,
                    "The header \(field.name.prefix(64)) cannot be decoded; it must be percent-encoded UTF-8.")
            }
            headers.append(MessageHeader(name, .string(value)))
        }
        guard headers.isEmpty || headers.contains(where: { $0.name == prefix + "specversion" }) else {
            throw NativeProblem(
                .invalid,
                "The header ce-specversion is missing; an event in binary mode has ce-specversion, ce-id, ce-source "
                    + "and ce-type.")
        }
        return headers
    }

    /// The text that a header's value stands for: without quotation marks around it, then percent-decoded, once
    /// (section 3.1.3.2).
    ///
    /// A percent sign that begins no such triple is one, because some senders do not encode it.
    private static func decoded(_ value: String) -> String? {
        var bytes = Array(value.utf8)
        if bytes.count >= 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"") {
            bytes = unescaped(bytes.dropFirst().dropLast())
        }
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                let high = HexadecimalDigits.value(of: bytes[index + 1]),
                let low = HexadecimalDigits.value(of: bytes[index + 2])
            {
                result.append(high << 4 | low)
                index += 3
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return String(validating: result, as: UTF8.self)
    }

    private static func unescaped(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        var isEscaped = false
        for byte in bytes {
            if byte == UInt8(ascii: "\\"), !isEscaped {
                isEscaped = true
            } else {
                result.append(byte)
                isEscaped = false
            }
        }
        return result
    }
}
