import EventLoop

/// What a connection waits for, and which readiness of its socket that is.
///
/// `epoll` reports an event again and again until the connection acts on it, so it asks for no other events.
struct HTTPReadiness {
    /// Bytes of the client are wanted, and nothing that is to be sent first is left.
    var wantsInput = false
    /// Bytes wait that the socket did not take.
    var writeIsBlocked = false
    /// TLS has to send something before it reads on.
    var readWantsWrite = false
    /// TLS has to read something before it sends on.
    var writeWantsRead = false
    /// Whether the end of the client's side is to be told of.
    var watchesPeer = false

    /// The events to ask for.
    var events: ReadyEvents {
        var events: ReadyEvents = []
        if wantsInput && !readWantsWrite || writeWantsRead { events.insert(.readable) }
        if writeIsBlocked || readWantsWrite { events.insert(.writable) }
        if watchesPeer { events.insert(.peerClosed) }
        return events
    }
}
