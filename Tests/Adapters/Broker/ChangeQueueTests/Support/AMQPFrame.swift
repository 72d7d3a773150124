/// A frame of AMQP 0-9-1 as a scripted broker reads and writes it (2.3.5 "Frame Details").
struct AMQPFrame {
    static let methodType: UInt8 = 1
    private static let headerType: UInt8 = 2
    private static let bodyType: UInt8 = 3
    private static let headBytes = 7
    private static let end: UInt8 = 0xCE

    /// The kind of frame; 8 is a heartbeat.
    let type: UInt8
    let channel: UInt16
    var payload: [UInt8]

    /// A method; its arguments are appended with the functions below.
    init(channel: UInt16, method: (UInt16, UInt16)) {
        type = Self.methodType
        self.channel = channel
        payload = []
        append(method.0)
        append(method.1)
    }

    private init(type: UInt8, channel: UInt16, payload: [UInt8]) {
        self.type = type
        self.channel = channel
        self.payload = payload
    }

    /// Takes the first frame from the bytes that came; nil if it is not complete.
    init?(takenFrom bytes: inout [UInt8]) {
        guard bytes.count >= Self.headBytes else { return nil }
        let size = bytes[3..<7].reduce(0) { $0 << 8 | Int($1) }
        guard bytes.count > Self.headBytes + size else { return nil }
        type = bytes[0]
        channel = UInt16(bytes[1]) << 8 | UInt16(bytes[2])
        payload = Array(bytes[Self.headBytes..<Self.headBytes + size])
        bytes.removeFirst(Self.headBytes + size + 1)
    }

    /// The frames of a content without properties.
    static func content(_ body: [UInt8], channel: UInt16) -> [AMQPFrame] {
        var header = AMQPFrame(type: headerType, channel: channel, payload: [])
        for number in [60, 0] as [UInt16] { header.append(number) }
        header.append(UInt64(body.count))
        header.append(UInt16(0))
        return [header, AMQPFrame(type: bodyType, channel: channel, payload: body)]
    }

    /// The bytes on the wire.
    var bytes: [UInt8] {
        var frame = AMQPFrame(type: type, channel: channel, payload: [type])
        frame.append(channel)
        frame.append(UInt32(payload.count))
        return frame.payload + payload + [Self.end]
    }

    // MARK: Arguments

    /// Class and method.
    var method: (UInt16, UInt16) { (UInt16(number(at: 0, count: 2)), UInt16(number(at: 2, count: 2))) }

    /// A number among the arguments, at an offset from the start of the payload.
    func number(at offset: Int, count: Int) -> UInt64 {
        guard payload.count >= offset + count else { return 0 }
        return payload[offset..<offset + count].reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// A short string among the arguments, and where the next argument is.
    func shortString(at offset: Int) -> (text: String, next: Int) {
        let next = offset + 1 + Int(number(at: offset, count: 1))
        guard offset < next, next <= payload.count else { return ("", offset) }
        return (String(decoding: payload[offset + 1..<next], as: UTF8.self), next)
    }

    mutating func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.bigEndian) { payload.append(contentsOf: $0) }
    }

    mutating func appendShort(_ text: String) {
        append(UInt8(clamping: text.utf8.count))
        payload.append(contentsOf: text.utf8)
    }

    mutating func appendLong(_ bytes: [UInt8]) {
        append(UInt32(bytes.count))
        payload.append(contentsOf: bytes)
    }
}
