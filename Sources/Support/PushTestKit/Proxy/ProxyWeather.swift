/// What a proxy does to all bytes, for as long as it lasts.
public struct ProxyWeather: Hashable, Sendable {
    /// What becomes of those who connect.
    public enum Welcome: Hashable, Sendable {
        /// They are connected with the server.
        case connect
        /// They are reset at once.
        case reset
        /// They are left alone: accepted, and never answered.
        case ignore
    }

    /// What becomes of those who connect.
    public var welcome = Welcome.connect
    /// The directions in which nothing arrives, and what becomes of the bytes.
    public var silences: [ProxyDirection: ProxySilence] = [:]
    /// How long bytes are under way in one direction, in milliseconds; drawn anew for what is read at once.
    public var delayMilliseconds: ClosedRange<UInt64> = 0...0
    /// How many bytes are written at once.
    public var writeBytesMaximum = Int.max
    /// How many bytes of one connection pass in one direction in a second.
    public var bytesPerSecondMaximum = Int.max

    /// Bytes pass as if there were no proxy.
    public static let calm = ProxyWeather()
    /// 200 ms there and back, more or less.
    public static let distant = ProxyWeather(delayMilliseconds: 50...150)
    /// Whoever reads gets one byte, and another, and another.
    public static let dripping = ProxyWeather(writeBytesMaximum: 1)

    /// Creates a weather.
    ///
    /// - Parameters:
    ///   - welcome: what becomes of those who connect.
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
    ///   - silence: what becomes of the bytes.
    /// - Returns: the weather.
    public static func silent(_ directions: [ProxyDirection], _ silence: ProxySilence) -> ProxyWeather {
        var weather = ProxyWeather()
        for direction in directions { weather.silences[direction] = silence }
        return weather
    }
}
