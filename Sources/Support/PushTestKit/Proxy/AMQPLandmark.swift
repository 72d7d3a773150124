/// A method of AMQP 0-9-1 that a proxy recognises as it passes, with the content that follows it.
public struct AMQPLandmark: Hashable, Sendable {
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
    public static let login = AMQPLandmark(.toServer, 10, 11)
    /// `connection.open`: the client asks for its virtual host, the last step of the handshake.
    public static let opening = AMQPLandmark(.toServer, 10, 40)
    /// `basic.consume`: the client asks for deliveries.
    public static let consume = AMQPLandmark(.toServer, 60, 20)
    /// `basic.publish`, its header and its body.
    public static let publish = AMQPLandmark(.toServer, 60, 40)
    /// `basic.ack` of a consumer.
    public static let acknowledgement = AMQPLandmark(.toServer, 60, 80)
    /// `basic.deliver`, its header and its body.
    public static let delivery = AMQPLandmark(.toClient, 60, 60)
    /// `basic.ack` of the broker: the publisher's confirm.
    public static let confirm = AMQPLandmark(.toClient, 60, 80)

    /// Whether a header and a body follow: `basic.publish`, `basic.return`, `basic.deliver` and `basic.get-ok`.
    var hasContent: Bool { classIdentifier == 60 && [40, 50, 60, 71].contains(methodIdentifier) }
}
