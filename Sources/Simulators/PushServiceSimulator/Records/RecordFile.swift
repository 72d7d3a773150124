import EventLoop
import Glibc

/// The file that records are appended to; every write ends at the end of a line, so that several loops can share it.
///
/// The descriptor is valid until the last loop releases the file.
///
/// unchecked because the descriptor is set once, and several threads may `write` to one in append mode.
public final class RecordFile: @unchecked Sendable {
    private let descriptor: Int32

    /// Creates the file, or empties it unless lines are to be added.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - appends: whether lines are added to what it holds.
    /// - Throws: `SimulatorError` (`fileFailed`) with the system's own text.
    public init(path: String, appends: Bool) throws(SimulatorError) {
        let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC
        descriptor = open(path, appends ? flags : flags | O_TRUNC, 0o600)
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

/// The records of one loop on their way to the file and the handler: whole lines, ten times a second or sooner.
public final class RecordWriter {
    /// How many bytes of records wait for the file before they are written without waiting for the timer.
    private static let unwrittenBytesMaximum = 1 << 18

    private let file: RecordFile?
    private let handler: (@Sendable ([UInt8]) -> Void)?

    /// Whether anybody takes lines.
    public let writesLines: Bool
    /// The lines that wait to be written.
    ///
    /// A caller that appends one calls `lineAppended`.
    public var lines: [UInt8] = []
    /// How many lines the disk did not take.
    public private(set) var lostCount = 0

    /// Creates a writer; without file and handler it takes no lines.
    ///
    /// - Parameters:
    ///   - file: the file.
    ///   - handler: takes the same lines, whole ones.
    public init(file: RecordFile?, handler: (@Sendable ([UInt8]) -> Void)?) {
        self.file = file
        self.handler = handler
        writesLines = file != nil || handler != nil
    }

    /// Writes the lines if many wait.
    public func lineAppended() { if lines.count >= Self.unwrittenBytesMaximum { write() } }

    /// Writes the lines that wait.
    public func write() {
        guard !lines.isEmpty else { return }
        if let file, !file.append(lines) { lostCount += lines.count { $0 == 0x0A } }
        handler?(lines)
        lines.removeAll(keepingCapacity: true)
    }
}

// The elements of a record's line.
extension [UInt8] {
    /// Adds a constant text as it is.
    public mutating func append(text: StaticString) {
        append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Adds a number in decimal digits.
    public mutating func append(integer: Int64) {
        append(contentsOf: integer.description.utf8)
    }

    /// Adds a JSON string.
    ///
    /// Bytes outside ASCII are written as the characters of the same number: a header may hold any byte.
    public mutating func append(quoted text: UnsafeBufferPointer<UInt8>, lowercasing: Bool = false) {
        append(UInt8(ascii: "\""))
        defer { append(UInt8(ascii: "\"")) }
        guard !text.allSatisfy(Self.isPlain) else { return append(contentsOf: text) }
        for byte in text {
            switch byte {
            case 65...70 where lowercasing: append(byte.lowercasedDigit)
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                append(UInt8(ascii: "\\"))
                append(byte)
            case 0..<0x20, 0x7F...0xFF:
                append(text: "\\u00")
                append(Self.digits[Int(byte >> 4)])
                append(Self.digits[Int(byte & 15)])
            default: append(byte)
            }
        }
    }

    /// Adds a name of a member with its separators, as `,"name":`, and a JSON string, or null.
    public mutating func append(_ name: StaticString, _ value: UnsafeBufferPointer<UInt8>?) {
        append(text: name)
        if let value { append(quoted: value) } else { append(text: "null") }
    }

    /// Adds the beginning of a record's line: the time by the service's clock, and by the system's.
    public mutating func beginLine(timeMilliseconds: Int64) {
        append(text: "{\"time_ms\":")
        append(integer: timeMilliseconds)
        append(text: ",\"time_us\":")
        append(integer: WallClock.nowMicroseconds())
    }

    /// Adds the end of a record's line: whether the answer accepted a duplicate, and the payload.
    ///
    /// - Parameters:
    ///   - flags: names of members with their separators, as `,"name":`.
    ///   - payload: JSON; nil if it is none.
    public mutating func endLine(_ flags: KeyValuePairs<StaticString, Bool>, payload: [UInt8]?) {
        for (name, value) in flags {
            append(text: name)
            append(text: value ? "true" : "false")
        }
        append(text: ",\"payload\":")
        if let payload { append(payload: payload) } else { append(text: "null") }
        append(text: "}\n")
    }

    /// Adds a payload that is known to be JSON.
    ///
    /// Line breaks in JSON stand only between its parts, where a space means the same.
    public mutating func append(payload: [UInt8]) {
        if payload.contains(where: { $0 == 0x0A || $0 == 0x0D }) {
            for byte in payload { append(byte == 0x0A || byte == 0x0D ? 0x20 : byte) }
        } else {
            append(contentsOf: payload)
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
