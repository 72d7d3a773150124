import CLinux
import Glibc
import Synchronization

/// One thread that waits for file descriptors, timers and work from other threads, and runs all of it in turn.
///
/// A loop is the home of C handles that must stay on one thread. All registered, scheduled or submitted work runs on
/// the loop's own thread, never two pieces at a time. Work that other threads submit is taken in batches, and only the
/// first submission since the last batch pays for the wake-up.
///
/// A tick has five steps: wait, run the ready descriptors, run the due timers, run the submitted work, run the work for
/// the end of the tick (for example one write that carries all output of the tick).
///
/// `shared` is guarded by its mutex, `thread` is written once before the thread starts and read by `stopAndJoin`, and
/// every other stored property is touched only on the loop's thread, which `preconditionOnLoop` asserts at each public
/// entry.
///
/// unchecked because what several threads touch is guarded as told above, and only the loop's thread touches the rest.
public final class EventLoop: @unchecked Sendable {
    /// Names one registration of a file descriptor.
    public struct Registration: Hashable, Sendable {
        let identifier: UInt64
        let fileDescriptor: Int32
    }

    /// Names one scheduled timer.
    public struct Timer: Hashable, Sendable {
        let identifier: UInt64
    }

    private struct Shared {
        var submitted: [@Sendable () -> Void] = []
        var isWakeUpPending = false
        var isStopping = false
        var isFinished = false
    }

    /// The most descriptors that one wait reports; the rest are reported by the next.
    private static let readyEventsMaximum = 256
    /// For how much submitted work the memory is kept.
    private static let submittedKeptMaximum = 1_024
    /// The stack of the loop's thread, independent of `ulimit -s`.
    ///
    /// A C library may recurse as deep as the data that it decodes: librabbitmq needs 3 MiB for the deepest table that
    /// a frame can hold. Only the used part takes memory.
    private static let stackSizeBytes = 8 << 20

    /// The name of the loop and of its thread (the kernel shows the first 15 bytes).
    public let name: String

    private let shared = Mutex(Shared())
    private let lastTickNanoseconds = Atomic<UInt64>(0)
    private let epollDescriptor: Int32
    private let wakeUpDescriptor: Int32
    private let threadIdentifier = Atomic<UInt>(0)
    private var thread = pthread_t()

    /// The buffers that what lives on the loop may borrow; touched on the loop only.
    public let buffers = LoopBuffers()

    private var handlers: [UInt64: (ReadyEvents) -> Void] = [:]
    private var timers = TimerHeap()
    private var endOfTick: [() -> Void] = []
    /// The array that `endOfTick` is swapped with while its work runs; empty, with its capacity, between ticks.
    private var endOfTickRunning: [() -> Void] = []
    /// The array that the submitted work is swapped with while it runs; empty, with its capacity, between ticks.
    private var submittedRunning: [@Sendable () -> Void] = []
    private var nextIdentifier: UInt64 = 1
    private var tickNanoseconds: UInt64 = 0
    /// Whether the loop's own thread has submitted work, for which it must not wait.
    private var hasOwnWork = false

    /// Creates the loop and starts its thread.
    ///
    /// - Parameter name: the name of the thread, for logs, `top -H` and `perf`.
    /// - Throws: `EventLoopError` if the kernel gives no descriptor or no thread.
    public init(name: String) throws(EventLoopError) {
        self.name = name
        // A peer that closes while we write must be an error code, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        epollDescriptor = clinux_epoll_create()
        guard epollDescriptor >= 0 else { throw EventLoopError(call: "epoll_create1") }
        wakeUpDescriptor = clinux_eventfd()
        guard wakeUpDescriptor >= 0 else {
            let code = errno
            close(epollDescriptor)
            throw EventLoopError(call: "eventfd", code: code)
        }
        // Edge-triggered: `epoll` reports each write once, so the loop need not read the counter.
        let added = clinux_epoll_control(
            epollDescriptor, EPOLL_CTL_ADD, wakeUpDescriptor, clinux_epollin_each_edge(), 0)
        precondition(added == 0, "a new eventfd can always be added to a new epoll set")
        lastTickNanoseconds.store(MonotonicClock.nowNanoseconds(), ordering: .relaxed)
        try startThread()
    }

    deinit {
        close(epollDescriptor)
        close(wakeUpDescriptor)
    }

    private func startThread() throws(EventLoopError) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        let refusal = pthread_attr_setstacksize(&attributes, Self.stackSizeBytes)
        guard refusal == 0 else { throw EventLoopError(call: "pthread_attr_setstacksize", code: refusal) }
        let context = Unmanaged.passRetained(self)
        let code = pthread_create(
            &thread, &attributes,
            { context in
                guard let context else { return nil }
                Unmanaged<EventLoop>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, context.toOpaque())
        guard code == 0 else {
            context.release()
            throw EventLoopError(call: "pthread_create", code: code)
        }
    }

    // MARK: From any thread

    /// Runs `work` on the loop, after all that was submitted before it; work submitted after the stop is dropped.
    public func submit(_ work: @escaping @Sendable () -> Void) {
        let mustWake = shared.withLock { shared in
            guard !shared.isFinished else { return false }
            shared.submitted.append(work)
            guard !shared.isWakeUpPending else { return false }
            shared.isWakeUpPending = true
            return true
        }
        guard mustWake else { return }
        if isOnLoop { hasOwnWork = true } else { wakeUp() }
    }

    /// Runs `work` on the loop and hands its result to the caller; for start, stop, configuration and tests.
    ///
    /// - Parameter work: runs on the loop's thread.
    /// - Returns: the result of `work`.
    /// - Throws: the error of `work`, or `CancellationError` if the loop has stopped.
    public func run<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            let isFinished = shared.withLock { $0.isFinished }
            guard !isFinished else { return continuation.resume(throwing: CancellationError()) }
            submit { continuation.resume(with: Swift.Result(catching: work)) }
        }
    }

    /// Whether the caller runs on the loop's own thread.
    public var isOnLoop: Bool { threadIdentifier.load(ordering: .relaxed) == UInt(pthread_self()) }

    /// Stops the process if the caller is on another thread: a C handle was about to be used by two threads.
    public func preconditionOnLoop() {
        precondition(isOnLoop, "this must run on the event loop's own thread")
    }

    /// How long ago the loop last began a tick, in nanoseconds; a loop that waits ticks at least once a second.
    public func nanosecondsSinceLastTick() -> UInt64 {
        let now = MonotonicClock.nowNanoseconds()
        let last = lastTickNanoseconds.load(ordering: .relaxed)
        return now > last ? now - last : 0
    }

    /// Ends the loop after the work submitted so far, and waits for its thread; must not be called on the loop.
    public func stopAndJoin() {
        precondition(!isOnLoop, "a loop cannot wait for itself")
        let isFirst = shared.withLock { shared in
            defer { shared.isStopping = true }
            return !shared.isStopping
        }
        guard isFirst else { return }
        wakeUp()
        pthread_join(thread, nil)
    }

    // MARK: On the loop

    /// The time at which this tick began, in monotonic nanoseconds: one clock read serves the whole tick.
    public var nowNanoseconds: UInt64 {
        preconditionOnLoop()
        return tickNanoseconds
    }

    /// Watches a file descriptor, level-triggered.
    ///
    /// - Parameters:
    ///   - fileDescriptor: a non-blocking descriptor, which stays the caller's to close (after `deregister`).
    ///   - events: the awaited events; errors and hang-ups are always reported.
    ///   - handler: runs on the loop, once for each tick in which the descriptor is ready.
    /// - Returns: the name under which to modify or deregister it.
    /// - Throws: `EventLoopError` if the kernel refuses the descriptor.
    public func register(
        _ fileDescriptor: Int32, for events: ReadyEvents, handler: @escaping (ReadyEvents) -> Void
    ) throws(EventLoopError) -> Registration {
        preconditionOnLoop()
        let identifier = takeIdentifier()
        let code = clinux_epoll_control(epollDescriptor, EPOLL_CTL_ADD, fileDescriptor, events.rawValue, identifier)
        guard code == 0 else { throw EventLoopError(call: "epoll_ctl") }
        handlers[identifier] = handler
        return Registration(identifier: identifier, fileDescriptor: fileDescriptor)
    }

    /// Changes the events that a registered descriptor waits for.
    public func modify(_ registration: Registration, for events: ReadyEvents) {
        preconditionOnLoop()
        guard handlers[registration.identifier] != nil else { return }
        _ = clinux_epoll_control(
            epollDescriptor, EPOLL_CTL_MOD, registration.fileDescriptor, events.rawValue, registration.identifier)
    }

    /// Stops watching a descriptor; its handler runs no more, not even for readiness that this tick already saw.
    public func deregister(_ registration: Registration) {
        preconditionOnLoop()
        guard handlers.removeValue(forKey: registration.identifier) != nil else { return }
        _ = clinux_epoll_control(epollDescriptor, EPOLL_CTL_DEL, registration.fileDescriptor, 0, 0)
    }

    /// Runs `handler` once, `delayNanoseconds` from now.
    @discardableResult
    public func schedule(afterNanoseconds delayNanoseconds: UInt64, handler: @escaping () -> Void) -> Timer {
        preconditionOnLoop()
        let identifier = takeIdentifier()
        let due = MonotonicClock.nowNanoseconds().addingReportingOverflow(delayNanoseconds)
        timers.insert(
            dueNanoseconds: due.overflow ? .max : due.partialValue, identifier: identifier, handler: handler)
        return Timer(identifier: identifier)
    }

    /// Forgets a timer; one that has run already is left alone.
    public func cancel(_ timer: Timer) {
        preconditionOnLoop()
        timers.cancel(timer.identifier)
    }

    /// Runs `work` once at the end of this tick, after everything else that the tick has to do.
    public func atEndOfTick(_ work: @escaping () -> Void) {
        preconditionOnLoop()
        endOfTick.append(work)
    }

    // MARK: The thread

    private func takeIdentifier() -> UInt64 {
        defer { nextIdentifier += 1 }
        return nextIdentifier
    }

    private func wakeUp() {
        var one: UInt64 = 1
        // The counter can only overflow after 2^64 wake-ups; any other failure is impossible.
        _ = write(wakeUpDescriptor, &one, MemoryLayout<UInt64>.size)
    }

    private func run() {
        threadIdentifier.store(UInt(pthread_self()), ordering: .relaxed)
        _ = clinux_set_thread_name(String(name.prefix(15)))
        var ready = [epoll_event](repeating: epoll_event(), count: Self.readyEventsMaximum)
        var isRunning = true
        while isRunning {
            let count = epoll_wait(epollDescriptor, &ready, Int32(ready.count), waitMilliseconds())
            tickNanoseconds = MonotonicClock.nowNanoseconds()
            lastTickNanoseconds.store(tickNanoseconds, ordering: .relaxed)
            for index in 0..<max(0, Int(count)) { dispatch(ready[index]) }
            while let handler = timers.popDue(atNanoseconds: tickNanoseconds) { handler() }
            isRunning = runSubmittedWork()
            runEndOfTick()
        }
        release()
        // A thread that is created later may have the identifier of this one, and is not on the loop.
        threadIdentifier.store(0, ordering: .relaxed)
    }

    /// At most a second, so that `nanosecondsSinceLastTick` tells a loop that waits from one that hangs.
    private func waitMilliseconds() -> Int32 {
        guard endOfTick.isEmpty, !hasOwnWork else { return 0 }
        guard let due = timers.nextDueNanoseconds else { return 1_000 }
        let now = MonotonicClock.nowNanoseconds()
        guard due > now else { return 0 }
        return Int32(min(1_000, (due - now + 999_999) / 1_000_000))
    }

    private func dispatch(_ event: epoll_event) {
        var event = event
        // The descriptor for wake-ups has no handler: to be awake is enough.
        guard let handler = handlers[clinux_epoll_token(&event)] else { return }
        handler(ReadyEvents(rawValue: clinux_epoll_events(&event)))
    }

    /// Runs one batch of submitted work; returns false when the loop has been asked to stop and no work is left.
    private func runSubmittedWork() -> Bool {
        hasOwnWork = false
        let isFinished = shared.withLock { shared in
            swap(&shared.submitted, &submittedRunning)
            shared.isWakeUpPending = false
            if submittedRunning.isEmpty, shared.isStopping { shared.isFinished = true }
            // Work submitted by this batch must find a loop that still turns.
            if shared.isStopping { wakeUp() }
            return shared.isFinished
        }
        // By index, because an iterator would keep the array, whose memory could not be used again.
        for index in submittedRunning.indices { submittedRunning[index]() }
        submittedRunning.removeAll(keepingCapacity: submittedRunning.count <= Self.submittedKeptMaximum)
        return !isFinished
    }

    private func runEndOfTick() {
        // Work that the end of the tick itself schedules runs in the next tick, so that no tick is endless.
        swap(&endOfTick, &endOfTickRunning)
        var index = 0
        while index < endOfTickRunning.count {
            let work = endOfTickRunning[index]
            work()
            index += 1
        }
        endOfTickRunning.removeAll(keepingCapacity: true)
    }

    /// Releases everything that handlers retain, on their own thread.
    private func release() {
        handlers = [:]
        timers = TimerHeap()
        endOfTick = []
    }
}

/// The readiness of a file descriptor.
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
    /// The peer has closed its side (`EPOLLRDHUP`); unread bytes may be left.
    public static let peerClosed = ReadyEvents(rawValue: 0x2000)
    /// Both directions are closed (`EPOLLHUP`); always reported, asked for or not.
    public static let hangUp = ReadyEvents(rawValue: 0x010)
}
