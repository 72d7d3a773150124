/// What a file descriptor is ready for.
public struct ReadyEvents: OptionSet, Sendable {
    /// The bits, in epoll's own values.
    public let rawValue: UInt32

    /// Wraps epoll's bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Bytes, a connection or the end of the stream can be read (`EPOLLIN`).
    public static let readable = ReadyEvents(rawValue: 0x001)
    /// Bytes can be written (`EPOLLOUT`).
    public static let writable = ReadyEvents(rawValue: 0x004)
    /// An error is pending (`EPOLLERR`); always reported, asked for or not.
    public static let error = ReadyEvents(rawValue: 0x008)
    /// The peer has closed its side (`EPOLLRDHUP`), whatever of it has been read.
    public static let peerClosed = ReadyEvents(rawValue: 0x2000)
    /// Both directions are closed (`EPOLLHUP`); always reported, asked for or not.
    public static let hangUp = ReadyEvents(rawValue: 0x010)
}
