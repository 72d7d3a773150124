/// Finds the methods in one direction of an AMQP connection, however its bytes are split (AMQP 0-9-1, 2.3.5 "Frame
/// Details").
///
/// Bytes pass unchanged; only the first bytes of a frame wait until they show its kind.
struct AMQPFrameScanner {
    /// A found piece, in the order of passing.
    enum Piece: Equatable {
        case bytes([UInt8])
        case reached(AMQPMarker, FaultTrigger.Moment)
    }

    private static let methodFrame: UInt8 = 1
    private static let headerFrame: UInt8 = 2
    private static let bodyFrame: UInt8 = 3
    private static let frameHeadBytes = 7
    private static let protocolHeaderBytes = 8

    private let direction: ProxyDirection
    /// The first bytes of a frame, until there are enough.
    private var head: [UInt8] = []
    /// How many bytes of the frame are still to come behind its head.
    private var frameBytesLeft = 0
    private var isAtProtocolHeader: Bool
    /// The method whose frame is passing, or whose content is not complete.
    private var open: AMQPMarker?
    private var awaitsHeader = false
    private var bodyBytesLeft: UInt64 = 0

    init(direction: ProxyDirection) {
        self.direction = direction
        isAtProtocolHeader = direction == .toServer
    }

    /// Takes received bytes, and appends the pieces that may pass.
    mutating func take(_ bytes: [UInt8], into pieces: inout [Piece]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            if frameBytesLeft > 0 {
                let part = rest.prefix(frameBytesLeft)
                rest = rest.dropFirst(part.count)
                frameBytesLeft -= part.count
                pieces.append(.bytes(Array(part)))
            } else {
                while !rest.isEmpty, head.count < headBytes { head.append(rest.removeFirst()) }
                guard head.count == headBytes else { return }
                beginFrame(&pieces)
            }
            if frameBytesLeft == 0 { endFrame(&pieces) }
        }
    }

    /// The number of bytes that show a frame's kind: class and method, or the size of the body.
    private var headBytes: Int {
        if isAtProtocolHeader { return Self.protocolHeaderBytes }
        guard let type = head.first, head.count >= Self.frameHeadBytes else { return Self.frameHeadBytes }
        switch type {
        case Self.methodFrame: return Self.frameHeadBytes + min(4, frameSize)
        case Self.headerFrame: return Self.frameHeadBytes + min(12, frameSize)
        default: return Self.frameHeadBytes
        }
    }

    private var frameSize: Int { Int(number(at: 3, count: 4)) }

    private func number(at offset: Int, count: Int) -> UInt64 {
        guard head.count >= offset + count else { return 0 }
        return head[offset..<offset + count].reduce(0) { $0 << 8 | UInt64($1) }
    }

    private mutating func beginFrame(_ pieces: inout [Piece]) {
        defer { head.removeAll() }
        guard !isAtProtocolHeader else {
            isAtProtocolHeader = false
            return pieces.append(.bytes(head))
        }
        frameBytesLeft = Self.frameHeadBytes + frameSize + 1 - head.count
        switch head.first {
        case Self.methodFrame:
            let marker = AMQPMarker(
                direction: direction, classIdentifier: UInt16(number(at: 7, count: 2)),
                methodIdentifier: UInt16(number(at: 9, count: 2)))
            open = marker
            awaitsHeader = marker.hasContent
            bodyBytesLeft = 0
            pieces += [.reached(marker, .before), .bytes(head), .reached(marker, .within)]
        case Self.headerFrame:
            awaitsHeader = false
            bodyBytesLeft = number(at: 11, count: 8)
            pieces.append(.bytes(head))
        case Self.bodyFrame:
            bodyBytesLeft -= min(bodyBytesLeft, UInt64(frameSize))
            pieces.append(.bytes(head))
        default: pieces.append(.bytes(head))
        }
    }

    private mutating func endFrame(_ pieces: inout [Piece]) {
        guard let marker = open, !awaitsHeader, bodyBytesLeft == 0 else { return }
        open = nil
        pieces.append(.reached(marker, .after))
    }
}

/// A method of AMQP 0-9-1 that a proxy recognises as it passes, with the content that follows it.
public struct AMQPMarker: Hashable, Sendable {
    /// Which way it goes.
    public let direction: ProxyDirection
    /// The class that the method belongs to.
    public let classIdentifier: UInt16
    /// The method's number in its class.
    public let methodIdentifier: UInt16

    private init(_ direction: ProxyDirection, _ classIdentifier: UInt16, _ methodIdentifier: UInt16) {
        self.init(direction: direction, classIdentifier: classIdentifier, methodIdentifier: methodIdentifier)
    }

    /// Names a method by its numbers.
    ///
    /// - Parameters:
    ///   - direction: which way it goes.
    ///   - classIdentifier: the class, for example 60 for `basic`.
    ///   - methodIdentifier: the method, for example 40 for `basic.publish`.
    public init(direction: ProxyDirection, classIdentifier: UInt16, methodIdentifier: UInt16) {
        self.direction = direction
        self.classIdentifier = classIdentifier
        self.methodIdentifier = methodIdentifier
    }

    /// `connection.start-ok`: the client shows who it is.
    public static let login = AMQPMarker(.toServer, 10, 11)
    /// `connection.open`: the client asks for its virtual host, the last step of the handshake.
    public static let opening = AMQPMarker(.toServer, 10, 40)
    /// `basic.consume`: the client asks for deliveries.
    public static let consume = AMQPMarker(.toServer, 60, 20)
    /// `basic.publish`, its header and its body.
    public static let publish = AMQPMarker(.toServer, 60, 40)
    /// `basic.ack` of a consumer.
    public static let acknowledgement = AMQPMarker(.toServer, 60, 80)
    /// `basic.deliver`, its header and its body.
    public static let delivery = AMQPMarker(.toClient, 60, 60)
    /// `basic.ack` of the broker: the publisher's confirm.
    public static let confirm = AMQPMarker(.toClient, 60, 80)

    /// Whether a header and a body follow: `basic.publish`, `basic.return`, `basic.deliver` and `basic.get-ok`.
    var hasContent: Bool { classIdentifier == 60 && [40, 50, 60, 71].contains(methodIdentifier) }
}
