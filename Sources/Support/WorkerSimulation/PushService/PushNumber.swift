import Notifications

/// Finds the number of the event in what its pushes say.
///
/// All pushes of an event share their content, so the last one that was read is remembered.
struct PushNumber {
    private var last: PushContent?
    private var lastNumber = 0

    /// The number of the event of a push; nil if it says none.
    mutating func number(of content: PushContent) -> Int? {
        if content === last { return lastNumber }
        guard let number = Self.find(content.payload) else { return nil }
        last = content
        lastNumber = number
        return number
    }

    /// The digits between two signs `#`, or those of `syncCount`, which is a text.
    private static func find(_ bytes: [UInt8]) -> Int? {
        let isMark: (Int) -> Bool = { bytes[$0] == UInt8(ascii: "#") }
        var place = 0
        while place < bytes.count {
            if isMark(place), let (number, end) = digits(bytes, from: place + 1), end < bytes.count, isMark(end) {
                return number
            }
            if bytes[place] == UInt8(ascii: "C"), bytes[place...].starts(with: Array("Count\":\"".utf8)),
                let (number, _) = digits(bytes, from: place + 8)
            {
                return number
            }
            place += 1
        }
        return nil
    }

    private static func digits(_ bytes: [UInt8], from start: Int) -> (number: Int, end: Int)? {
        var place = start
        var number = 0
        while place < bytes.count, (48...57).contains(bytes[place]), place - start < 12 {
            number = number * 10 + Int(bytes[place]) - 48
            place += 1
        }
        return place > start ? (number, place) : nil
    }
}
