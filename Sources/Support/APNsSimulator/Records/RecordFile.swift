import Glibc

/// The file that records are appended to; every write ends at the end of a line, so that several loops can share it.
///
/// The descriptor is valid until the last loop releases the file.
///
/// unchecked because the descriptor is set once, and several threads may `write` to one in append mode.
final class RecordFile: @unchecked Sendable {
    private let descriptor: Int32

    /// Creates the file, or empties it.
    ///
    /// - Throws: `SimulatorError` with the system's own text.
    init(path: String) throws(SimulatorError) {
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw SimulatorError(.fileFailed, "cannot write records to \(path): \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }

    /// Writes all of the bytes; waits for the disk if it has to.
    ///
    /// - Returns: false if the disk took no more.
    func append(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let count = write(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                written += count
            }
            return true
        }
    }
}

/// Writes a record as one line of JSON, straight into bytes.
enum RecordLine {
    /// Appends the line of one answered request.
    ///
    /// - Parameters:
    ///   - facts: the answer and its time.
    ///   - fields: the headers of the request.
    ///   - body: its payload, which goes into the line as the JSON that it is; null if it was refused or not checked.
    ///   - bytes: where the line goes, its line feed included.
    static func append(
        _ facts: AnswerFacts, fields: RequestFields, body: borrowing RequestBody, to bytes: inout [UInt8]
    ) {
        bytes.append("{\"time_ms\":")
        bytes.append(integer: facts.timeMilliseconds)
        bytes.append(",\"time_us\":")
        bytes.append(integer: facts.timeMicroseconds)
        bytes.append(",\"token\":")
        bytes.append(quoted: fields.deviceTokenDigits ?? UnsafeBufferPointer(start: nil, count: 0), lowercasing: true)
        bytes.append(",\"apns_id\":")
        bytes.append(quoted: facts.identifierText)
        append(",\"push_type\":", fields[.pushType], to: &bytes)
        append(",\"topic\":", fields[.topic], to: &bytes)
        append(",\"priority\":", fields[.priority], to: &bytes)
        append(",\"expiration\":", fields[.expiration], to: &bytes)
        append(",\"collapse_id\":", fields[.collapseIdentifier], to: &bytes)
        bytes.append(",\"status\":")
        bytes.append(integer: Int64(facts.answer.status))
        bytes.append(",\"reason\":")
        if let reason = facts.answer.reason {
            var reason = reason
            reason.withUTF8 { bytes.append(quoted: $0) }
        } else {
            bytes.append("null")
        }
        bytes.append(facts.isDuplicate ? ",\"duplicate\":true,\"payload\":" : ",\"duplicate\":false,\"payload\":")
        if facts.isPayloadChecked {
            // Line breaks in JSON stand only between its parts, where a space means the same.
            if body.bytes.contains(where: { $0 == 0x0A || $0 == 0x0D }) {
                for byte in body.bytes { bytes.append(byte == 0x0A || byte == 0x0D ? 0x20 : byte) }
            } else {
                bytes.append(contentsOf: body.bytes)
            }
        } else {
            bytes.append("null")
        }
        bytes.append("}\n")
    }

    private static func append(_ name: StaticString, _ value: UnsafeBufferPointer<UInt8>?, to bytes: inout [UInt8]) {
        bytes.append(name)
        if let value {
            bytes.append(quoted: value)
        } else {
            bytes.append("null")
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ text: StaticString) {
        append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    fileprivate mutating func append(integer: Int64) {
        append(contentsOf: integer.description.utf8)
    }

    /// Bytes outside ASCII are written as the characters of the same number: a header may hold any byte.
    fileprivate mutating func append(quoted text: UnsafeBufferPointer<UInt8>, lowercasing: Bool = false) {
        append(UInt8(ascii: "\""))
        defer { append(UInt8(ascii: "\"")) }
        guard !text.allSatisfy(Self.isPlain) else { return append(contentsOf: text) }
        for byte in text {
            switch byte {
            case 65...70 where lowercasing: append(byte | 0x20)
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                append(UInt8(ascii: "\\"))
                append(byte)
            case 0..<0x20, 0x7F...0xFF:
                append("\\u00")
                append(Self.digits[Int(byte >> 4)])
                append(Self.digits[Int(byte & 15)])
            default: append(byte)
            }
        }
    }

    /// Whether a byte needs no escape in a JSON string, even after a change of its case.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), 0..<0x20, 65...70, 0x7F...0xFF: false
        default: true
        }
    }

    private static let digits = Array("0123456789abcdef".utf8)
}
