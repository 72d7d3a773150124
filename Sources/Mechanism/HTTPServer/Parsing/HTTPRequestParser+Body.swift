import Essentials

extension HTTPRequestParser {
    private static let sizeDigitsMaximum = 8
    private static let malformedChunk = HTTPRefusal.malformed(
        "a chunk of the body is not well-formed (RFC 9112 section 7.1)")

    // MARK: A body of known length

    mutating func readBody(_ remaining: Int) -> Step? {
        if case .length(let count) = head.framing, count > bodyBytesMaximum {
            return refuse(.bodyTooLong(bytesMaximum: bodyBytesMaximum))
        }
        let piece = take(remaining)
        guard !piece.isEmpty else { return .needsMore }
        part = piece.count == remaining ? .ended : .body(remaining: remaining - piece.count)
        return .body(piece)
    }

    private mutating func take(_ count: Int) -> [UInt8] {
        let end = position + min(count, pendingBytes)
        defer { position = end }
        return Array(input[position..<end])
    }

    // MARK: A body in chunks

    /// Reads the size of a chunk with its extensions, which mean nothing here.
    mutating func readChunkSize() -> Step? {
        let line: ArraySlice<UInt8>
        switch takeChunkLine() {
        case .line(let found): line = found
        case .none(let step): return step
        }
        let digits = line.prefix { HexadecimalDigits.value(of: $0) != nil }
        guard (1...Self.sizeDigitsMaximum).contains(digits.count), Self.isExtension(line[digits.endIndex...]) else {
            return refuse(Self.malformedChunk)
        }
        let size = digits.reduce(0) { $0 << 4 | Int(HexadecimalDigits.value(of: $1) ?? 0) }
        chunkedBytes += size
        guard chunkedBytes <= bodyBytesMaximum else { return refuse(.bodyTooLong(bytesMaximum: bodyBytesMaximum)) }
        // The size of a chunk with bytes is bounded as the bytes are.
        if size > 0 { lineBytes -= digits.count + 2 }
        part = size == 0 ? .trailer : .chunk(remaining: size)
        return nil
    }

    /// Whether the bytes after the size are empty, or printable extensions that each begin with a semicolon.
    private static func isExtension(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.isEmpty
            || bytes.first == UInt8(ascii: ";")
                && bytes.allSatisfy { OctetClass.isVisible($0) || $0 == OctetClass.space }
    }

    mutating func readChunk(_ remaining: Int) -> Step? {
        let piece = take(remaining)
        guard !piece.isEmpty else { return .needsMore }
        part = piece.count == remaining ? .chunkEnd : .chunk(remaining: remaining - piece.count)
        return .body(piece)
    }

    mutating func readChunkEnd() -> Step? {
        guard pendingBytes >= 2 else {
            let isRight = pendingBytes == 0 || input[position] == OctetClass.carriageReturn
            return isRight ? .needsMore : refuse(Self.malformedChunk)
        }
        guard input[position] == OctetClass.carriageReturn, input[position + 1] == OctetClass.lineFeed else {
            return refuse(Self.malformedChunk)
        }
        position += 2
        part = .chunkSize
        return nil
    }

    /// Reads a field after the last chunk, which is well-formed and means nothing here, or the empty line.
    mutating func readTrailer() -> Step? {
        switch takeChunkLine() {
        case .none(let step): return step
        case .line(let line) where line.isEmpty:
            part = .ended
            return nil
        case .line(let line): return Self.field(line) == nil ? refuse(Self.malformedChunk) : nil
        }
    }

    // MARK: Lines between chunks

    private enum ChunkLine {
        case line(ArraySlice<UInt8>)
        /// The step to take instead.
        case none(Step)
    }

    private mutating func takeChunkLine() -> ChunkLine {
        switch takeLine() {
        case .complete(let range) where lineBytes <= Self.chunkLinesBytesMaximum: return .line(input[range])
        case .complete, .broken: return .none(refuse(Self.malformedChunk))
        case .incomplete:
            guard lineBytes + pendingBytes <= Self.chunkLinesBytesMaximum else {
                return .none(refuse(Self.malformedChunk))
            }
            return .none(.needsMore)
        }
    }
}
