import CLinux
import EventLoop
import Glibc
import Synchronization
import Testing

@Suite("Event loop")
struct LoopTests {
    /// The events of a test, in order; written on the loop, read by the test.
    private final class Record: Sendable {
        private let entries = Mutex<[String]>([])

        func add(_ entry: String) { entries.withLock { $0.append(entry) } }

        var all: [String] { entries.withLock { $0 } }
    }

    private final class Count: Sendable {
        private let storage = Atomic(0)

        func increment() { storage.wrappingAdd(1, ordering: .relaxed) }

        var value: Int { storage.load(ordering: .relaxed) }
    }

    private final class Box {
        var value = 0
        var registration: EventLoop.Registration?
        var timer: EventLoop.Timer?
    }

    /// Runs `start` on the loop and waits until it calls what it is given.
    private func wait(
        on loop: EventLoop, for start: @escaping @Sendable (@escaping @Sendable () -> Void) throws -> Void
    ) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            loop.submit {
                do { try start { continuation.resume() } } catch { continuation.resume(throwing: error) }
            }
        }
    }

    @Test("Work runs on the loop's own thread, in the order of its submission")
    func workRunsInOrder() async throws {
        let loop = try EventLoop(name: "test")
        let record = Record()
        for number in 0..<1_000 { loop.submit { record.add("\(number)") } }
        let isOnLoop = try await loop.run { loop.isOnLoop }
        #expect(isOnLoop)
        #expect(!loop.isOnLoop)
        #expect(record.all == (0..<1_000).map(String.init))
        loop.stopAndJoin()
    }

    @Test("Work from many threads is run, all of it, once")
    func workFromManyThreads() async throws {
        let loop = try EventLoop(name: "test")
        let count = Count()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<2_000 { loop.submit { count.increment() } }
                }
            }
        }
        loop.stopAndJoin()
        #expect(count.value == 16_000)
    }

    @Test("An error of the work reaches the caller")
    func errorReachesCaller() async throws {
        struct Failure: Error {}
        let loop = try EventLoop(name: "test")
        await #expect(throws: Failure.self) { try await loop.run { throw Failure() } }
        loop.stopAndJoin()
        await #expect(throws: CancellationError.self) { try await loop.run {} }
    }

    @Test("A stop runs what was submitted before it, and what that submits; work after it is dropped")
    func stopRunsWhatWasSubmitted() async throws {
        let loop = try EventLoop(name: "test")
        let record = Record()
        loop.submit {
            record.add("first")
            loop.submit {
                record.add("second")
                loop.submit { record.add("third") }
            }
        }
        loop.stopAndJoin()
        loop.submit { record.add("late") }
        loop.stopAndJoin()
        #expect(record.all == ["first", "second", "third"])
    }

    @Test("Timers run in the order of their times, cancelled ones never")
    func timersRunInOrder() async throws {
        let loop = try EventLoop(name: "test")
        let record = Record()
        try await wait(on: loop) { done in
            loop.schedule(afterNanoseconds: 6_000_000) {
                record.add("third")
                done()
            }
            let cancelled = loop.schedule(afterNanoseconds: 4_000_000) { record.add("cancelled") }
            loop.schedule(afterNanoseconds: 2_000_000) {
                record.add("second")
                loop.cancel(cancelled)
            }
            loop.schedule(afterNanoseconds: 0) { record.add("first") }
            loop.schedule(afterNanoseconds: .max) { record.add("never") }
        }
        #expect(record.all == ["first", "second", "third"])
        loop.stopAndJoin()
    }

    @Test("A timer may schedule itself again and cancel itself while it runs")
    func timerSchedulesItself() async throws {
        let loop = try EventLoop(name: "test")
        try await wait(on: loop) { done in
            let box = Box()
            Self.countTo(100, box, loop, done)
        }
        loop.stopAndJoin()
    }

    private static func countTo(_ limit: Int, _ box: Box, _ loop: EventLoop, _ done: @escaping () -> Void) {
        box.timer = loop.schedule(afterNanoseconds: 1_000) {
            box.value += 1
            if let timer = box.timer { loop.cancel(timer) }
            guard box.value < limit else { return done() }
            countTo(limit, box, loop, done)
        }
    }

    @Test("The end of a tick comes after its work; what it asks for comes in the next tick, which does not wait")
    func endOfTickComesLast() async throws {
        let loop = try EventLoop(name: "test")
        let record = Record()
        try await wait(on: loop) { done in
            loop.atEndOfTick {
                record.add("end 1")
                loop.atEndOfTick {
                    record.add("next end")
                    done()
                }
                loop.submit { record.add("submitted by the end") }
            }
            loop.atEndOfTick { record.add("end 2") }
            record.add("work")
        }
        #expect(record.all == ["work", "end 1", "end 2", "submitted by the end", "next end"])
        loop.stopAndJoin()
    }

    @Test("A descriptor is reported while it is ready, for what was asked, until it is deregistered")
    func descriptorIsReported() async throws {
        let loop = try EventLoop(name: "test")
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        let (readEnd, writeEnd) = (ends[0], ends[1])
        #expect(write(writeEnd, "abc", 3) == 3)
        let record = Record()
        try await wait(on: loop) { done in
            let box = Box()
            box.registration = try loop.register(readEnd, for: .readable) { events in
                #expect(events.contains(.readable))
                var byte: UInt8 = 0
                #expect(read(readEnd, &byte, 1) == 1)
                record.add(String(UnicodeScalar(byte)))
                guard byte == UInt8(ascii: "c"), let registration = box.registration else { return }
                loop.modify(registration, for: [])
                #expect(write(writeEnd, "d", 1) == 1)
                // Not reported now: nothing was asked for.
                loop.schedule(afterNanoseconds: 1_000_000) {
                    record.add("pause")
                    loop.modify(registration, for: .readable)
                    loop.atEndOfTick {
                        loop.deregister(registration)
                        loop.deregister(registration)
                        loop.modify(registration, for: .readable)
                        loop.schedule(afterNanoseconds: 1_000_000) { done() }
                    }
                }
            }
        }
        #expect(record.all == ["a", "b", "c", "pause"])
        loop.stopAndJoin()
        close(readEnd)
        close(writeEnd)
    }

    @Test("The end of a peer is reported even if nothing was asked for")
    func hangUpIsReported() async throws {
        let loop = try EventLoop(name: "test")
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        let (readEnd, writeEnd) = (ends[0], ends[1])
        try await wait(on: loop) { done in
            let box = Box()
            box.registration = try loop.register(readEnd, for: []) { events in
                #expect(events.contains(.hangUp))
                if let registration = box.registration { loop.deregister(registration) }
                close(readEnd)
                done()
            }
            close(writeEnd)
        }
        loop.stopAndJoin()
    }

    @Test("A descriptor that cannot be watched is refused with the reason")
    func badDescriptorIsRefused() async throws {
        let loop = try EventLoop(name: "test")
        try await loop.run {
            let error = #expect(throws: EventLoopError.self) { _ = try loop.register(-1, for: .readable) { _ in } }
            #expect(error?.call == "epoll_ctl")
            #expect(error?.code == EBADF)
        }
        loop.stopAndJoin()
    }

    @Test("Handlers of one tick may deregister each other; the second of the two is not run")
    func deregistrationHoldsWithinTick() async throws {
        let loop = try EventLoop(name: "test")
        let record = Record()
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        let (readEnd, writeEnd) = (ends[0], ends[1])
        let other = dup(readEnd)
        try await wait(on: loop) { done in
            let first = Box()
            let second = Box()
            let run: (Box) -> Void = { box in
                record.add("run")
                if let registration = box.registration { loop.deregister(registration) }
            }
            first.registration = try loop.register(readEnd, for: .readable) { _ in
                run(second)
                if let registration = first.registration { loop.deregister(registration) }
            }
            second.registration = try loop.register(other, for: .readable) { _ in
                run(first)
                if let registration = second.registration { loop.deregister(registration) }
            }
            #expect(write(writeEnd, "x", 1) == 1)
            loop.schedule(afterNanoseconds: 2_000_000) { done() }
        }
        #expect(record.all == ["run"])
        loop.stopAndJoin()
        for descriptor in [readEnd, writeEnd, other] { close(descriptor) }
    }

    @Test("A value bound to a loop is readable there, and a stopped loop lets go of what its handlers hold")
    func boundValueStaysOnLoop() async throws {
        let loop = try EventLoop(name: "test")
        let bound = try await loop.run {
            let box = Box()
            box.value = 42
            return LoopBound(box, to: loop)
        }
        #expect(try await loop.run { bound.value.value } == 42)
        let released = Record()
        try await loop.run {
            let token = Token { released.add("released") }
            loop.schedule(afterNanoseconds: .max) { withExtendedLifetime(token) {} }
        }
        loop.stopAndJoin()
        #expect(released.all == ["released"])
    }

    private final class Token {
        private let released: () -> Void

        init(released: @escaping () -> Void) { self.released = released }

        deinit { released() }
    }

    @Test("A thread that has the identifier of a loop's ended thread is not on that loop")
    func identifiersOfThreadsComeAgain() async throws {
        for _ in 0..<20 {
            let ended = try EventLoop(name: "ended")
            ended.stopAndJoin()
            // Its thread gets the stack of the last that ended, and with it the identifier, unless another was quicker.
            let next = try EventLoop(name: "next")
            #expect(try await next.run { !ended.isOnLoop })
            next.stopAndJoin()
        }
    }

    @Test("A loop's thread has the stack that C libraries need, whatever a thread has by default")
    func stackSize() async throws {
        var old = pthread_attr_t()
        try #require(ThreadAttributes.readDefault(&old) == 0)
        var wider = old
        pthread_attr_setstacksize(&wider, 24 << 20)
        try #require(ThreadAttributes.setDefault(&wider) == 0)
        defer { _ = ThreadAttributes.setDefault(&old) }
        let loop = try EventLoop(name: "test")
        let bytes = try await loop.run {
            var own = pthread_attr_t()
            try #require(ThreadAttributes.read(pthread_self(), &own) == 0)
            defer { pthread_attr_destroy(&own) }
            var bytes = 0
            pthread_attr_getstacksize(&own, &bytes)
            return bytes
        }
        #expect((7 << 20...9 << 20).contains(bytes), "\(bytes)")
        loop.stopAndJoin()
    }

    @Test("The loop tells since when it has not turned")
    func tickAgeIsKnown() async throws {
        let loop = try EventLoop(name: "test")
        try await loop.run {
            let start = MonotonicClock.nowNanoseconds()
            while MonotonicClock.nowNanoseconds() < start + 2_000_000 {}
            #expect(loop.nanosecondsSinceLastTick() >= 2_000_000)
            #expect(loop.nowNanoseconds <= start)
        }
        loop.stopAndJoin()
    }
}

/// Attributes of threads; Swift's Glibc module is built without these functions of glibc.
enum ThreadAttributes {
    private typealias OfThread = @convention(c) (pthread_t, UnsafeMutablePointer<pthread_attr_t>) -> Int32
    private typealias OfDefault = @convention(c) (UnsafeMutablePointer<pthread_attr_t>) -> Int32

    private static func function<Function>(_ name: String, as type: Function.Type) -> Function? {
        dlsym(nil, name).map { unsafeBitCast($0, to: type) }
    }

    /// Reads what a thread has.
    static func read(_ thread: pthread_t, _ attributes: inout pthread_attr_t) -> Int32 {
        function("pthread_getattr_np", as: OfThread.self)?(thread, &attributes) ?? ENOSYS
    }

    /// Reads what a thread gets that is created without attributes.
    static func readDefault(_ attributes: inout pthread_attr_t) -> Int32 {
        function("pthread_getattr_default_np", as: OfDefault.self)?(&attributes) ?? ENOSYS
    }

    /// Changes what a thread gets that is created without attributes.
    static func setDefault(_ attributes: inout pthread_attr_t) -> Int32 {
        function("pthread_setattr_default_np", as: OfDefault.self)?(&attributes) ?? ENOSYS
    }
}
