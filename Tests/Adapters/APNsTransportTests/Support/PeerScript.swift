/// What the scripted peer does; runs on its loop.
struct PeerScript: Sendable {
    /// A connection is ready.
    var onConnect: @Sendable (PeerConnection) -> Void = { _ in }
    /// A request is complete; the default accepts it.
    var onRequest: @Sendable (PeerConnection, PeerRequest) -> Void = { $0.answer($1) }
    /// How many streams a client may open on a connection.
    var streamsMaximum: UInt32 = 100
    /// How many bytes of bodies a client may send on a connection.
    var windowBytes: UInt32 = 16 << 20
    /// Whether the window is opened again as bytes arrive.
    var opensWindows = true
}
