/// Carries a value that belongs to one event loop through code that runs elsewhere.
///
/// The value can be held and passed by any thread, but only the loop's own thread can look at it.
///
/// Its last release may happen elsewhere, so a value with a deinitializer that needs its loop has to be closed on the
/// loop before.
///
/// unchecked because every access asserts that it is on the value's loop, so that no two threads ever see the value.
public struct LoopBound<Value>: @unchecked Sendable {
    /// The loop that the value belongs to.
    public let loop: EventLoop
    private let storage: Value

    /// Binds a value to a loop; any thread may do so with a value that no other thread holds.
    public init(_ value: sending Value, to loop: EventLoop) {
        self.loop = loop
        storage = value
    }

    /// The value; must be read on the loop.
    public var value: Value {
        loop.preconditionOnLoop()
        return storage
    }
}
