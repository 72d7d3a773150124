/// The bytes of one input, and the ways in which targets read them.
///
/// Most inputs are text, perhaps in several parts with the byte 1E between them. After the first byte FF, which no text
/// has, come *choices*: what an answer of the push service is, which headers a message has. A plain file is an input
/// without choices, so examples are a corpus as they are; every choice that is missing is the ordinary one, zero.
struct FuzzInput {
    private static let partSeparator: UInt8 = 0x1E
    private static let choicesMark: UInt8 = 0xFF
    /// Numbers at which arithmetic ends.
    private static let boundaries: [Int64] = [
        0, 1, -1, .max, .min, .max - 1, .min + 1, 1_000, 1_000_000, 1 << 31, 1 << 32, 1 << 42, -1_000,
        .max / 1_000, .min / 1_000, 1_700_000_000_000,
    ]

    /// All bytes.
    let bytes: [UInt8]
    /// The parts of the text; at least one, which may be empty.
    let parts: [[UInt8]]
    private var choices: ArraySlice<UInt8>

    /// Takes the bytes of an input.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        let end = bytes.firstIndex(of: Self.choicesMark) ?? bytes.count
        parts = bytes[..<end].split(separator: Self.partSeparator, omittingEmptySubsequences: false).map(Array.init)
        choices = bytes[min(end + 1, bytes.count)...]
    }

    /// The first part.
    var text: [UInt8] { parts[0] }

    /// Whether no choice is left.
    var isUsedUp: Bool { choices.isEmpty }

    /// The next choice; zero if there is none.
    mutating func byte() -> UInt8 { choices.popFirst() ?? 0 }

    /// The next choice among a few things; the first if there is none.
    mutating func choice<Element>(_ elements: [Element]) -> Element { elements[Int(byte()) % elements.count] }

    /// A number of 64 bits: one at which arithmetic ends, a small one, or any.
    mutating func integer() -> Int64 {
        let first = byte()
        if Int(first) < Self.boundaries.count { return Self.boundaries[Int(first)] }
        if first < 128 { return Int64(first) &* 97 }
        return Int64(bitPattern: (0..<8).reduce(0) { number, _ in number << 8 | UInt64(byte()) })
    }

    /// Some bytes, at most 255.
    mutating func shortBytes() -> [UInt8] {
        let count = min(Int(byte()), choices.count)
        defer { choices = choices.dropFirst(count) }
        return Array(choices.prefix(count))
    }
}
