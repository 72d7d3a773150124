/// The meaning of a host's text before any name is looked up: an address in one of its forms, or a name.
///
/// Programs differ in what they read as an address: `0x7f.1`, `017700000001` and `2130706433` are 127.0.0.1 to
/// `inet_aton`, and so to `getaddrinfo` and to most proxies. So every text that some program may read as an address is
/// either the address that `inet_aton` makes of it, or no host at all. A name cannot be taken for one: no top-level
/// domain is a number (WHATWG URL §3.5, "ends in a number").
public enum LiteralHost: Hashable, Sendable {
    /// An address, 4 or 16 bytes, the highest first.
    case address([UInt8])
    /// A name, in small letters and without a period at its end.
    case name(String)
    /// Neither: the text is empty, or looks like an address and is none.
    case malformed

    /// Reads the text of a host.
    ///
    /// - Parameter host: the text; an IPv6 address with or without its brackets.
    public init(_ host: some StringProtocol) {
        var text = host.lowercased()[...]
        if text.hasPrefix("["), text.hasSuffix("]") { text = text.dropFirst().dropLast() }
        if text.contains(":") {
            self = Self.bytes(ofIPv6: text).map { .address($0) } ?? .malformed
            return
        }
        while text.hasSuffix(".") { text.removeLast() }
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        guard let last = labels.last, labels.allSatisfy({ !$0.isEmpty }) else {
            self = .malformed
            return
        }
        guard Self.looksLikeNumber(last) else {
            self = .name(String(text))
            return
        }
        self = Self.bytes(ofIPv4: labels).map { .address($0) } ?? .malformed
    }

    /// Whether a label is all digits, or begins as a hexadecimal number does.
    private static func looksLikeNumber(_ label: Substring) -> Bool {
        label.utf8.allSatisfy { (48...57).contains($0) }
            || label.hasPrefix("0x") && label.dropFirst(2).allSatisfy(\.isHexDigit)
    }

    /// The address that `inet_aton` makes of one to four numbers, the last of which fills the bytes that are left.
    private static func bytes(ofIPv4 labels: [Substring]) -> [UInt8]? {
        let numbers = labels.compactMap(number)
        guard (1...4).contains(labels.count), numbers.count == labels.count, let last = numbers.last,
            numbers.dropLast().allSatisfy({ $0 <= 255 }), last >> UInt64(8 * (5 - numbers.count)) == 0
        else { return nil }
        let high = numbers.dropLast().map { UInt8($0) }
        let low = (0..<4 - high.count).reversed().map { UInt8(truncatingIfNeeded: last >> UInt64(8 * $0)) }
        return high + low
    }

    /// A number as C writes it: hexadecimal after `0x`, octal after `0`, else decimal.
    private static func number(_ label: Substring) -> UInt64? {
        if label.hasPrefix("0x") { return label.count == 2 ? 0 : UInt64(label.dropFirst(2), radix: 16) }
        return UInt64(label, radix: label.hasPrefix("0") ? 8 : 10)
    }

    /// An IPv6 address, whose last 32 bits may be written as IPv4 (RFC 4291 section 2.2); nil if it is none.
    private static func bytes(ofIPv6 text: Substring) -> [UInt8]? {
        let halves = text.split(separator: "::", maxSplits: 2, omittingEmptySubsequences: false)
        guard halves.count <= 2, let high = groups(halves[0], isLast: halves.count == 1),
            let low = groups(halves.count == 2 ? halves[1] : "", isLast: true)
        else { return nil }
        let missing = 16 - high.count - low.count
        // Two colons stand for a group of zeros at least.
        guard halves.count == 2 ? missing >= 2 : missing == 0 else { return nil }
        return high + [UInt8](repeating: 0, count: missing) + low
    }

    private static func groups(_ text: Substring, isLast: Bool) -> [UInt8]? {
        guard !text.isEmpty else { return [] }
        var bytes: [UInt8] = []
        let groups = text.split(separator: ":", omittingEmptySubsequences: false)
        for (index, group) in groups.enumerated() {
            if isLast, index == groups.count - 1, group.contains(".") {
                let labels = group.split(separator: ".", omittingEmptySubsequences: false)
                // Here leading zeros, which some read as octal, are no part of any form.
                guard labels.count == 4, labels.allSatisfy({ $0 == "0" || !$0.hasPrefix("0") }),
                    let four = Self.bytes(ofIPv4: labels)
                else { return nil }
                bytes += four
            } else {
                guard (1...4).contains(group.utf8.count), group.allSatisfy(\.isHexDigit),
                    let value = UInt16(group, radix: 16)
                else { return nil }
                bytes += [UInt8(value >> 8), UInt8(value & 0xff)]
            }
        }
        return bytes
    }
}
