import Essentials
import JSON
import StructuredLogging

/// One log entry on its way to becoming a line.
struct LogLine {
    /// The longest line in bytes, its end included; Linux writes as much to a pipe in one piece (PIPE_BUF).
    static let sizeBytesMaximum = 4_096
    /// The most bytes of the parts beside the fields.
    private static let reservedBytes = 256
    /// The longest text of one field, in bytes; the rest is cut off.
    private static let textBytesMaximum = 1_024

    /// The time, in milliseconds since 1970.
    let timeMilliseconds: Int64
    /// How important it is.
    let level: LogLevel
    /// The name of the event.
    let event: StaticString
    /// The variable values.
    let fields: [LogField]
    /// How many entries of the same call site were left out before this one.
    let suppressedCount: Int
    /// How many lines were lost before this one.
    let droppedCount: Int

    /// The line as a JSON object.
    ///
    /// Fields that would make it too long are left out, and `truncated` says so.
    var json: [UInt8] {
        var writer = JSONWriter(capacityBytes: 512)
        writer.beginObject()
        writer.key("time")
        writer.string(WallTime.text(milliseconds: timeMilliseconds))
        writer.key("level")
        writer.string("\(level)")
        writer.key("event")
        writer.string("\(event)")
        var isTruncated = false
        for field in fields {
            let value = Self.json(of: field.value)
            let sizeBytes = writer.bytes.count + field.name.utf8CodeUnitCount + value.count + Self.reservedBytes
            if sizeBytes > Self.sizeBytesMaximum {
                isTruncated = true
            } else {
                writer.key(field.name)
                writer.raw(value)
            }
        }
        for (name, count) in counts {
            writer.key(name)
            writer.integer(count)
        }
        if isTruncated {
            writer.key("truncated")
            writer.boolean(true)
        }
        writer.endObject()
        return writer.bytes + [UInt8(ascii: "\n")]
    }

    /// The line for people: time, level, event, `name=value`.
    var text: [UInt8] {
        let levelName = "\(level)".uppercased()
        let padding = String(repeating: " ", count: max(0, 7 - levelName.count))
        var line = "\(WallTime.text(milliseconds: timeMilliseconds)) \(levelName)\(padding) \(event)"
        for field in fields {
            let value = " \(field.name)=" + String(decoding: Self.json(of: field.value), as: UTF8.self)
            if line.utf8.count + value.utf8.count + Self.reservedBytes <= Self.sizeBytesMaximum { line += value }
        }
        for (name, count) in counts { line += " \(name)=\(count)" }
        return Array(line.utf8) + [UInt8(ascii: "\n")]
    }

    private var counts: [(StaticString, Int)] {
        let counts: [(StaticString, Int)] = [("suppressed", suppressedCount), ("dropped", droppedCount)]
        return counts.filter { $0.1 > 0 }
    }

    private static func json(of value: LogField.Value) -> [UInt8] {
        var writer = JSONWriter(capacityBytes: 64)
        switch value {
        case .string(let text): writer.string(text.shortened(bytesMaximum: textBytesMaximum))
        case .integer(let number): writer.integer(number)
        case .number(let number): writer.double(number)
        case .boolean(let isTrue): writer.boolean(isTrue)
        }
        // Logs are read in terminals, too.
        return Array(String(decoding: writer.bytes, as: UTF8.self).printable().utf8)
    }
}
