/// Bytes of HTTP/2 frames, written by hand (RFC 9113 section 4.1).
enum Frames {
    static let clientPreface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    static let emptySettings = frame(type: 4, flags: 0, stream: 0, payload: [])

    static func frame(type: UInt8, flags: UInt8, stream: UInt32, payload: [UInt8]) -> [UInt8] {
        let count = payload.count
        let header: [UInt8] = [
            UInt8(truncatingIfNeeded: count >> 16), UInt8(truncatingIfNeeded: count >> 8),
            UInt8(truncatingIfNeeded: count), type, flags,
            UInt8(truncatingIfNeeded: stream >> 24), UInt8(truncatingIfNeeded: stream >> 16),
            UInt8(truncatingIfNeeded: stream >> 8), UInt8(truncatingIfNeeded: stream),
        ]
        return header + payload
    }

    /// A run of frames with random types, flags, streams and content, and sometimes a wrong length.
    static func random(using generator: inout some RandomNumberGenerator) -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 1...12, using: &generator) {
            let payload = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                UInt8.random(in: 0 ... .max, using: &generator)
            }
            var frame = frame(
                type: UInt8.random(in: 0...10, using: &generator),
                flags: Bool.random(using: &generator) ? 0 : UInt8.random(in: 0 ... .max, using: &generator),
                stream: UInt32.random(in: 0...5, using: &generator), payload: payload)
            if Int.random(in: 0..<10, using: &generator) == 0 { frame[2] = frame[2] &+ 1 }
            bytes += frame
        }
        return bytes
    }
}
