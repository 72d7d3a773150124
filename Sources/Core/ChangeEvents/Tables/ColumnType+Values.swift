import Essentials
import Geography
internal import JSON
import Notifications
import Predicates

extension ColumnType {
    /// Debezium's text for a value that it was not given, because the change did not touch it; the second is the same
    /// of bytes.
    private static let unavailable: [StaticString] = [
        "__debezium_unavailable_value", "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==",
    ]

    /// Reads the value of a column.
    ///
    /// - Parameters:
    ///   - json: the value in the envelope.
    ///   - path: where it lies, for messages.
    /// - Returns: the field; nil if there is none: of `null`, NaN, and a value that Debezium was not given.
    /// - Throws: `EventRejection` `.invalidField`, if no event carries the value.
    func value(_ json: JSONValue, _ path: () -> String) throws(EventRejection) -> FieldValue? {
        if case .refused(let name) = self {
            throw EventRejection(
                .invalidField,
                "\(path()) is of the type \(name.excerpt), which no event carries; name the others in columns of the"
                    + " [[source]], or declare it in types")
        }
        guard !json.isNull, !Self.isUnavailable(json) else { return nil }
        guard let array = json.array else { return try single(json, path) }
        var members: [FieldValue] = []
        for (index, member) in array.enumerated() {
            guard index < RecordLimits.membersMaximum else {
                throw FieldReader.invalid(
                    path(), found: "an array of more than \(RecordLimits.membersMaximum) elements",
                    "an array of at most that many")
            }
            guard !Self.isUnavailable(member) else { return nil }
            guard member.kind != .array else {
                throw FieldReader.invalid(path(), found: "an array of several dimensions", "an array of one")
            }
            if !member.isNull, let value = try single(member, { "\(path())[\(index)]" }) { members.append(value) }
        }
        return .list(members)
    }

    private static func isUnavailable(_ json: JSONValue) -> Bool {
        json.kind == .string && unavailable.contains { json.isString($0) }
    }

    private func single(_ json: JSONValue, _ path: () -> String) throws(EventRejection) -> FieldValue? {
        let expected: String
        switch self {
        case .plain:
            if json.kind != .object { return try Self.plainField(json, path) }
            expected = "a text, a number, true or false, unless types of the [[source]] declares it"
        case .text:
            if json.kind == .string { return try Self.plainField(json, path) }
            expected = "a string"
        case .number, .decimal(scale: nil):
            if json.kind == .integer || json.kind == .double { return try Self.plainField(json, path) }
            if json.isString("NaN") { return nil }
            if let number = Self.parsedNumber(json) { return number }
            expected = "a number, or the text of one"
        case .moment(let unit):
            if let milliseconds = Self.milliseconds(json, unit) { return .date(milliseconds: milliseconds) }
            expected = unit == nil ? "a text of ISO 8601" : "a whole number, or a text of ISO 8601"
        case .decimal(let scale?):
            if let bytes = Self.decodedBytes(json), let number = DecimalNumber(unscaled: bytes, scale: scale) {
                return number.fieldValue
            }
            expected = "base64 of 1 to \(DecimalNumber.bytesMaximum) bytes"
        case .bytes:
            if let bytes = Self.decodedBytes(json), bytes.count <= RecordLimits.textBytesMaximum {
                return .bytes(bytes)
            }
            expected = "base64 of at most \(RecordLimits.textBytesMaximum) bytes"
        case .place:
            if let location = Self.location(json) { return .location(location) }
            expected =
                "a point: x is a longitude from -180 to 180, y a latitude from -90 to 90, or WKB of the SRID 4326"
        case .refused: return nil
        }
        throw FieldReader.invalid(path(), json, expected)
    }

    private static func plainField(_ json: JSONValue, _ path: () -> String) throws(EventRejection) -> FieldValue? {
        do throws(ValueMismatch) {
            return try FieldValue.plain(json)
        } catch {
            throw FieldReader.invalid(path() + error.path, found: error.found, error.expected)
        }
    }

    private static func decodedBytes(_ json: JSONValue) -> [UInt8]? { json.withUTF8(Base64.decode) ?? nil }

    // MARK: Numbers

    /// Reads the text of a number, or an object with `scale` and `value` (`io.debezium.data.VariableScaleDecimal`).
    private static func parsedNumber(_ json: JSONValue) -> FieldValue? {
        // The largest doubles stand for the infinities, as in the fields of other events.
        if json.isString("Infinity") { return .double(.greatestFiniteMagnitude) }
        if json.isString("-Infinity") { return .double(-.greatestFiniteMagnitude) }
        if let number = json.withUTF8({ DecimalNumber($0) }) ?? nil { return number.fieldValue }
        guard let scale = json["scale"]?.int64, scales.contains(scale),
            let bytes = json["value"].flatMap(Self.decodedBytes)
        else { return nil }
        return DecimalNumber(unscaled: bytes, scale: Int(scale))?.fieldValue
    }

    // MARK: Moments

    /// Milliseconds since 1970, rounded down; those beyond 64 bits are the first or the last.
    private static func milliseconds(_ json: JSONValue, _ unit: TimeUnit?) -> Int64? {
        guard let unit, let count = json.int64 else { return json.withUTF8(milliseconds) ?? nil }
        switch unit {
        case .days:
            let (product, overflows) = count.multipliedReportingOverflow(by: 86_400_000)
            return overflows ? (count < 0 ? .min : .max) : product
        case .milliseconds: return count
        case .microseconds: return count.roundedDown(dividingBy: 1_000)
        case .nanoseconds: return count.roundedDown(dividingBy: 1_000_000)
        }
    }

    /// Reads a date, a time in UTC, or one with a zone.
    ///
    /// PostgreSQL's infinities, and years beyond the four digits of RFC 3339, which Java writes with a sign, are the
    /// first or the last moment.
    private static func milliseconds(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        if let milliseconds = RFC3339.milliseconds(text) { return milliseconds }
        guard (8...64).contains(text.count), let first = text.first else { return nil }
        let isDigit = { (byte: UInt8) in (0x30...0x39).contains(byte) }
        if text.elementsEqual("infinity".utf8) || first == UInt8(ascii: "+") && isDigit(text[1]) { return .max }
        if text.elementsEqual("-infinity".utf8) || first == UInt8(ascii: "-") && isDigit(text[1]) { return .min }
        var bytes = Array(text)
        // A date may have a zone of its own (`io.debezium.time.IsoDate`).
        if bytes.count == 11, bytes.last == UInt8(ascii: "Z") { bytes.removeLast() }
        bytes += Array((bytes.count == 10 ? "T00:00:00Z" : "Z").utf8)
        return bytes.withUnsafeBufferPointer(RFC3339.milliseconds)
    }

    // MARK: Places

    private static func location(_ json: JSONValue) -> Location? {
        guard let object = json.object else { return nil }
        if let x = object["x"]?.double, let y = object["y"]?.double { return Location(latitude: y, longitude: x) }
        guard object["srid"]?.int64 == 4_326, let bytes = object["wkb"].flatMap(Self.decodedBytes),
            let point = Self.point(bytes)
        else { return nil }
        return Location(latitude: point.y, longitude: point.x)
    }

    /// Reads a point in well-known binary (OGC 06-103r4 section 8.2), also with further dimensions, or with an SRID as
    /// PostGIS writes it; nil if it is something else.
    private static func point(_ bytes: [UInt8]) -> (x: Double, y: Double)? {
        guard bytes.count >= 21, bytes[0] <= 1 else { return nil }
        let isLittleEndian = bytes[0] == 1
        func word(_ offset: Int, _ count: Int) -> UInt64 {
            let part = bytes[offset..<(offset + count)]
            let ordered = isLittleEndian ? Array(part.reversed()) : Array(part)
            return ordered.reduce(0) { $0 << 8 | UInt64($1) }
        }
        let type = word(1, 4)
        let offset = type & 0x2000_0000 == 0 ? 5 : 9
        guard (type & 0x0fff_ffff) % 1_000 == 1, bytes.count >= offset + 16 else { return nil }
        return (Double(bitPattern: word(offset, 8)), Double(bitPattern: word(offset + 8, 8)))
    }
}

extension Int64 {
    fileprivate func roundedDown(dividingBy divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
