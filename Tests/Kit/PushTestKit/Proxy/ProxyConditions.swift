/// The effects of a proxy on all bytes, while they last.
public struct ProxyConditions: Hashable, Sendable {
    /// The treatment of new connections.
    public enum Welcome: Hashable, Sendable {
        /// They are connected with the server.
        case connect
        /// They are reset at once.
        case reset
        /// They are left alone: accepted, and never answered.
        case ignore
    }

    /// The treatment of new connections.
    public var welcome = Welcome.connect
    /// The directions in which nothing arrives, and what becomes of the bytes.
    public var silences: [ProxyDirection: ProxySilence] = [:]
    /// The delay of bytes in one direction, in milliseconds; drawn again for each read.
    public var delayMilliseconds: ClosedRange<UInt64> = 0...0
    /// How many bytes are written at once.
    public var writeBytesMaximum = Int.max
    /// How many bytes of one connection pass in one direction in a second.
    public var bytesPerSecondMaximum = Int.max

    /// Bytes pass as if there were no proxy.
    public static let calm = ProxyConditions()
    /// 200 ms there and back, more or less.
    public static let distant = ProxyConditions(delayMilliseconds: 50...150)
    /// The reader gets single bytes.
    public static let dripping = ProxyConditions(writeBytesMaximum: 1)

    /// Creates conditions.
    ///
    /// - Parameters:
    ///   - welcome: the treatment of new connections.
    ///   - delayMilliseconds: how long bytes are under way in one direction.
    ///   - writeBytesMaximum: how many bytes are written at once.
    ///   - bytesPerSecondMaximum: how many bytes pass in a second.
    public init(
        welcome: Welcome = .connect, delayMilliseconds: ClosedRange<UInt64> = 0...0,
        writeBytesMaximum: Int = .max, bytesPerSecondMaximum: Int = .max
    ) {
        self.welcome = welcome
        self.delayMilliseconds = delayMilliseconds
        self.writeBytesMaximum = writeBytesMaximum
        self.bytesPerSecondMaximum = bytesPerSecondMaximum
    }

    /// Nothing arrives in some directions.
    ///
    /// - Parameters:
    ///   - directions: which.
    ///   - silence: the treatment of the bytes.
    /// - Returns: the conditions.
    public static func silent(_ directions: [ProxyDirection], _ silence: ProxySilence) -> ProxyConditions {
        var conditions = ProxyConditions()
        for direction in directions { conditions.silences[direction] = silence }
        return conditions
    }
}

/// The treatment of bytes in a silent direction; the connections stay open.
public enum ProxySilence: Hashable, Sendable {
    /// They wait, and arrive when it is over: a long pause.
    case held
    /// They are gone, though the sender's kernel was told that they arrived; when it is over, the connection is reset.
    case swallowed
}

/// Waits for something to pass through a proxy, and then strikes the connection, once.
public struct FaultTrigger: Hashable, Sendable {
    /// The event that fires the trigger.
    public enum Event: Hashable, Sendable {
        /// A client connects.
        case connection
        /// So many bytes of a connection that was made after the trigger was set have passed in a direction.
        case bytes(ProxyDirection, Int)
        /// A method of AMQP is about to pass, has passed in part, or has passed with all that belongs to it.
        case method(AMQPMarker, Moment)
    }

    /// When it fires, as seen from the method that passes.
    public enum Moment: Hashable, Sendable, CaseIterable {
        /// Nothing of the method has passed.
        case before
        /// The first bytes of its frame have passed, and the rest has not.
        case within
        /// All has passed, and no answer has come.
        case after
    }

    /// The effect on the connection.
    public enum Strike: Hashable, Sendable {
        /// Both ends see it reset.
        case reset
        /// It stays open, and nothing arrives any more in these directions.
        case silence([ProxyDirection])
    }

    /// The event that fires it.
    public let event: Event
    /// At which occurrence it fires, counted from 1 over all connections from when the trigger was set.
    public let occurrence: Int
    /// The effect.
    public let strike: Strike

    /// Creates a trigger.
    ///
    /// - Parameters:
    ///   - event: the event that fires it.
    ///   - occurrence: at which occurrence, counted from 1.
    ///   - strike: the effect.
    public init(_ event: Event, occurrence: Int = 1, strike: Strike = .reset) {
        self.event = event
        self.occurrence = occurrence
        self.strike = strike
    }
}
