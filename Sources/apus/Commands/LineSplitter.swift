/// Cuts bytes into lines and counts them; a line that is too long is dropped as it comes, not collected.
struct LineSplitter {
    /// One line.
    struct Line {
        /// Its number, counting from 1.
        let number: Int
        /// Its bytes without the end of the line; nil if it was too long.
        let bytes: [UInt8]?
    }

    private let lineBytesMaximum: Int
    private var rest: [UInt8] = []
    private var isTooLong = false
    private var number = 0

    init(lineBytesMaximum: Int) { self.lineBytesMaximum = lineBytesMaximum }

    /// Adds bytes, and hands out the lines that they end.
    mutating func add(_ bytes: ArraySlice<UInt8>) -> [Line] {
        var lines: [Line] = []
        var begin = bytes.startIndex
        while let end = bytes[begin...].firstIndex(of: UInt8(ascii: "\n")) {
            collect(bytes[begin..<end])
            lines.append(takeLine())
            begin = end + 1
        }
        collect(bytes[begin...])
        return lines
    }

    /// Hands out what no end of line followed.
    mutating func finish() -> [Line] { rest.isEmpty && !isTooLong ? [] : [takeLine()] }

    private mutating func collect(_ bytes: ArraySlice<UInt8>) {
        guard !isTooLong, rest.count + bytes.count <= lineBytesMaximum else {
            isTooLong = true
            rest = []
            return
        }
        rest.append(contentsOf: bytes)
    }

    private mutating func takeLine() -> Line {
        number += 1
        defer {
            rest.removeAll(keepingCapacity: true)
            isTooLong = false
        }
        return Line(number: number, bytes: isTooLong ? nil : rest)
    }
}
