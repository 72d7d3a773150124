/// The media ranges of the header `Accept`, with their weights (RFC 9110 section 12.5.1).
///
/// Members that are not well-formed are left out, and so accept nothing.
public struct AcceptHeader: Hashable, Sendable {
    /// One media range.
    struct Range: Hashable, Sendable {
        /// For example `text/plain`, `text/*` or `*/*`, in lower case.
        var type: String
        /// The parameters before the weight, names in lower case.
        var parameters: [String: String]
        /// From 0, not acceptable, to 1 000.
        var weightThousandths: Int
    }

    /// How many members are read; the rest is left out.
    static let rangesMaximum = 32

    let ranges: [Range]

    /// Reads the values of all fields of that name; none accept everything.
    public init(_ values: [String]) {
        let members = values.flatMap { Self.split($0, at: UInt8(ascii: ",")) }.filter { !$0.isEmpty }
        let parsed = members.prefix(Self.rangesMaximum).compactMap(Self.range)
        ranges = members.isEmpty ? [Range(type: "*/*", parameters: [:], weightThousandths: 1_000)] : parsed
    }

    /// Whether a range is this media type itself, and not a wildcard.
    public func names(_ type: String) -> Bool { ranges.contains { $0.type == type } }

    /// The weight of a media type, from 0, not acceptable, to 1 000.
    ///
    /// The most specific range counts: one with parameters before one without, both before `text/*`, all before `*/*`.
    ///
    /// - Parameters:
    ///   - type: the type, for example `text/plain`.
    ///   - parameters: its parameters; a range that has one of these with another value does not match. Parameters of
    ///     the range that are not named here do not count.
    /// - Returns: the weight.
    public func weightThousandths(of type: String, parameters: [String: String] = [:]) -> Int {
        let family = type.prefix { $0 != "/" } + "/*"
        var best: (specificity: Int, weight: Int)?
        for range in ranges {
            let specificity: Int
            if range.type == type {
                let known = parameters.compactMap { name, value in range.parameters[name].map { $0 == value } }
                guard known.allSatisfy(\.self) else { continue }
                specificity = 2 + known.count
            } else if range.type == family {
                specificity = 1
            } else if range.type == "*/*" {
                specificity = 0
            } else {
                continue
            }
            if best.map({ $0.specificity < specificity }) ?? true { best = (specificity, range.weightThousandths) }
        }
        return best?.weight ?? 0
    }

    private static func range(_ member: String) -> Range? {
        let parts = split(member, at: UInt8(ascii: ";"))
        guard let type = parts.first?.lowercased(), isMediaRange(type) else { return nil }
        var range = Range(type: type, parameters: [:], weightThousandths: 1_000)
        for part in parts.dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2, !pair[0].isEmpty else { return nil }
            let name = pair[0].lowercased()
            // The parameters after the weight are extensions, which RFC 9110 has abolished.
            if name == "q" {
                guard let weight = weight(pair[1]) else { return nil }
                range.weightThousandths = weight
                break
            }
            range.parameters[name] = unquoted(pair[1])
        }
        return range
    }

    private static func isMediaRange(_ text: String) -> Bool {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(OctetClass.isToken) }) else {
            return false
        }
        return parts[0] != "*" || parts[1] == "*"
    }

    /// A weight: `0` or `1` with at most three decimals, and at most 1.
    private static func weight(_ text: Substring) -> Int? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let decimals = parts.count == 2 ? parts[1] : ""
        guard parts[0] == "0" || parts[0] == "1", decimals.utf8.count <= 3,
            decimals.utf8.allSatisfy(OctetClass.isDigit)
        else { return nil }
        let padded = String(parts[0] + decimals) + String(repeating: "0", count: 3 - decimals.utf8.count)
        return Int(padded).flatMap { $0 <= 1_000 ? $0 : nil }
    }

    private static func unquoted(_ text: Substring) -> String {
        guard text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return String(text) }
        var value = ""
        var isEscaped = false
        for character in text.dropFirst().dropLast() {
            if character == "\\", !isEscaped {
                isEscaped = true
            } else {
                value.append(character)
                isEscaped = false
            }
        }
        return value
    }

    /// Splits at a separator outside of quoted strings, and removes the white space around the parts.
    private static func split(_ text: String, at separator: UInt8) -> [String] {
        var parts: [String] = []
        var part: [UInt8] = []
        var isQuoted = false
        var isEscaped = false
        for byte in text.utf8 {
            if byte == separator, !isQuoted {
                parts.append(trimmed(part))
                part.removeAll()
                continue
            }
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if byte == UInt8(ascii: "\\"), isQuoted {
                isEscaped = true
            }
            part.append(byte)
        }
        parts.append(trimmed(part))
        return parts
    }

    private static func trimmed(_ bytes: [UInt8]) -> String {
        let begin = bytes.drop(while: OctetClass.isBlank)
        let end = begin.lastIndex { !OctetClass.isBlank($0) }.map { $0 + 1 } ?? begin.startIndex
        return String(decoding: begin[..<end], as: UTF8.self)
    }
}
