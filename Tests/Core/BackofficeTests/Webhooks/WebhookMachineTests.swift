import ChangeEvents
import Essentials
import Messages
import Testing

@testable import Backoffice

/// A machine, its time, and what it has asked for.
private struct Bench {
    var machine: WebhookMachine
    private(set) var now = Moment(wall: WallTime(milliseconds: 1_700_000_000_000), monotonic: .init(nanoseconds: 1))
    private var nextNumber: UInt64 = 1
    /// When the machine wants to be asked again.
    private(set) var wake: MonotonicTime?

    init(requestsMaximum: Int = 8, retentionMilliseconds: Int64 = WebhookRetries.standardRetentionMilliseconds) {
        machine = WebhookMachine(
            requestsMaximum: requestsMaximum, retries: WebhookRetries(retentionMilliseconds: retentionMilliseconds))
        machine.consumptionBegan(epoch: 1)
    }

    /// Delivers outcomes, and gives those that are posted.
    mutating func deliver(_ count: Int = 1, headers: [MessageHeader] = []) -> [WebhookJob] {
        var message = Message(headers: headers, body: Array(#"{"outcome":"accepted"}"#.utf8))
        message.properties.messageID = "outcome"
        message.properties.timestampSeconds = 1_700_000_000
        let jobs = (0..<count).map { _ in
            defer { nextNumber += 1 }
            let tag = DeliveryTag(epoch: 1, number: nextNumber)
            return WebhookJob(
                Delivery(
                    tag: tag, deliveryClass: .interactive, isRedelivered: false, exchange: "apus.outcomes",
                    routingKey: "accepted.push.requested.chat", message: message), at: now)
        }
        machine.received(jobs)
        return advance().posts
    }

    mutating func advance() -> [WebhookMachine.Action] {
        let (actions, wake) = machine.advance(at: now)
        self.wake = wake
        return actions
    }

    mutating func answer(_ job: WebhookJob, _ answer: WebhookAnswer) -> [WebhookMachine.Action] {
        machine.answered(job.tag, answer, at: now) + advance()
    }

    mutating func pass(milliseconds: UInt64) -> [WebhookMachine.Action] {
        now = Moment(
            wall: now.wall.advanced(byMilliseconds: Int64(milliseconds)),
            monotonic: now.monotonic.advanced(byMilliseconds: milliseconds))
        return advance()
    }
}

extension [WebhookMachine.Action] {
    fileprivate var posts: [WebhookJob] { compactMap { if case .post(let job) = $0 { job } else { nil } } }

    fileprivate var settled: [DeliveryTag] { compactMap { if case .settle(let tag) = $0 { tag } else { nil } } }

    fileprivate var dropped: [DeliveryTag] { compactMap { if case .drop(let job, _) = $0 { job.tag } else { nil } } }

    fileprivate var copies: [(message: Message, delayMilliseconds: Int64)] {
        compactMap { if case .copy(_, let message, let delay) = $0 { (message, delay) } else { nil } }
    }

    fileprivate var stops: Bool { contains { if case .stopConsuming = $0 { true } else { false } } }
}

@Suite("The machine of a webhook")
struct WebhookMachineTests {
    @Test("As many requests as allowed are under way, and an answer makes room for the next")
    func limit() {
        var bench = Bench(requestsMaximum: 2)
        let first = bench.deliver(3)
        #expect(first.count == 2 && bench.machine.requestCount == 2)
        let actions = bench.answer(first[0], .taken)
        #expect(actions.settled == [first[0].tag] && actions.posts.count == 1)
    }

    @Test("An outcome climbs the ladder of waits, and stays at the last step until it is too old")
    func ladder() throws {
        var headers: [MessageHeader] = []
        var delays: [Int64] = []
        for _ in 1...7 {
            var bench = Bench()
            let job = try #require(bench.deliver(headers: headers).first)
            let copy = try #require(bench.answer(job, .refused(status: 500)).copies.first)
            delays.append(copy.delayMilliseconds)
            headers = copy.message.headers
        }
        #expect(delays == [5_000, 60_000, 300_000, 1_800_000, 7_200_000, 7_200_000, 7_200_000])
        var bench = Bench()
        _ = bench.pass(milliseconds: UInt64(WebhookRetries.standardRetentionMilliseconds))
        let late = try #require(bench.deliver(headers: headers).first)
        #expect(bench.answer(late, .failed(reason: "refused")).dropped == [late.tag])
        // Each outcome is tried at least once.
        let lateAndTaken = try #require(bench.deliver(headers: headers).first)
        #expect(bench.answer(lateAndTaken, .taken).settled == [lateAndTaken.tag])
    }

    @Test(
        "A wait that the backend asks for is kept to, up to the last step",
        arguments: [(0, 5_000), (5, 5_000), (6, 60_000), (301, 1_800_000), (86_400, 7_200_000), (Int.max, 7_200_000)]
            as [(Int, Int64)])
    func retryAfter(seconds: Int, delay: Int64) throws {
        var bench = Bench()
        let job = try #require(bench.deliver().first)
        let actions = bench.answer(job, WebhookAnswer(status: 503, retryAfterSeconds: seconds))
        #expect(actions.copies.first?.delayMilliseconds == delay)
    }

    @Test("The backend gets nothing for as long as it asks, five minutes at most")
    func pauseAskedFor() throws {
        for (asked, pause) in [(20, 20_000), (Int.max, 300_000)] as [(Int, UInt64)] {
            var bench = Bench()
            let job = try #require(bench.deliver().first)
            _ = bench.answer(job, .busy(status: 429, retryAfterSeconds: asked))
            #expect(bench.deliver().isEmpty)
            #expect(bench.pass(milliseconds: pause - 1).posts.isEmpty)
            #expect(bench.pass(milliseconds: 1).posts.count == 1)
        }
    }

    @Test("A request that was under way when the backend asked to be left alone does not end that pause")
    func pauseAskedForIsKept() throws {
        var bench = Bench(requestsMaximum: 2)
        let jobs = bench.deliver(6)
        _ = bench.answer(jobs[0], .busy(status: 429, retryAfterSeconds: 60))
        #expect(bench.answer(jobs[1], .taken).posts.isEmpty && bench.machine.isFailing)
        #expect(bench.pass(milliseconds: 59_999).posts.isEmpty)
        let probe = bench.pass(milliseconds: 1).posts
        #expect(probe.count == 1)
        #expect(bench.answer(try #require(probe.first), .taken).posts.count == 2 && !bench.machine.isFailing)
    }

    @Test("A copy is confirmed before its delivery is acknowledged, and published again if RabbitMQ does not take it")
    func copyBeforeAcknowledgement() throws {
        var bench = Bench()
        let job = try #require(bench.deliver().first)
        let actions = bench.answer(job, .refused(status: 500))
        #expect(actions.copies.count == 1 && actions.settled.isEmpty && !bench.machine.isIdle)
        #expect(bench.machine.copyEnded(job.tag, isTaken: false, at: bench.now).settled.isEmpty)
        #expect(bench.pass(milliseconds: 4_999).copies.isEmpty)
        #expect(bench.pass(milliseconds: 1).copies.count == 1)
        #expect(bench.machine.copyEnded(job.tag, isTaken: true, at: bench.now).settled == [job.tag])
        #expect(bench.machine.isIdle)
    }

    @Test("One bad outcome pauses nobody; a backend that fails is tried once after each pause, and then at full speed")
    func pauses() throws {
        var bench = Bench(requestsMaximum: 8)
        let first = bench.deliver(30)
        for job in first.prefix(4) { _ = bench.answer(job, .failed(reason: "refused")) }
        #expect(!bench.machine.isFailing)
        for job in first.dropFirst(4) { _ = bench.answer(job, .failed(reason: "refused")) }
        #expect(bench.machine.isFailing)
        // The four that were posted in the place of the first four.
        #expect(bench.machine.requestCount == 4)
        var pauses: [UInt64] = []
        for tag in 9...12 {
            _ = bench.machine.answered(
                DeliveryTag(epoch: 1, number: UInt64(tag)), .failed(reason: "late"), at: bench.now)
        }
        for _ in 1...8 {
            #expect(bench.advance().posts.isEmpty)
            let pause = try #require(bench.wake).milliseconds(since: bench.now.monotonic)
            pauses.append(UInt64(pause))
            let probes = bench.pass(milliseconds: UInt64(pause)).posts
            #expect(probes.count == 1)
            guard let probe = probes.first else { return }
            if pauses.count < 8 { _ = bench.answer(probe, .failed(reason: "refused")) }
            if pauses.count == 8 { #expect(bench.answer(probe, .taken).posts.count == 8) }
        }
        #expect(pauses == [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000])
        #expect(!bench.machine.isFailing)
    }

    @Test("After a 410 nothing is posted, and consuming stops when all that was under way has ended")
    func gone() throws {
        var bench = Bench(requestsMaximum: 2)
        let jobs = bench.deliver(3)
        #expect(!bench.answer(jobs[0], .gone).stops)
        let actions = bench.answer(jobs[1], .taken)
        #expect(actions.settled == [jobs[1].tag] && actions.stops && actions.posts.isEmpty)
        #expect(bench.machine.isGone && bench.deliver().isEmpty)
        #expect(!bench.advance().stops)
    }

    @Test("After a 410 a copy that RabbitMQ did not take is left to its delivery, which goes back")
    func goneWithCopies() throws {
        for isRefusedBefore in [true, false] {
            var bench = Bench(requestsMaximum: 2)
            let jobs = bench.deliver(2)
            #expect(bench.answer(jobs[0], .refused(status: 500)).copies.count == 1)
            if isRefusedBefore { _ = bench.machine.copyEnded(jobs[0].tag, isTaken: false, at: bench.now) }
            #expect(bench.answer(jobs[1], .gone).stops == isRefusedBefore)
            if isRefusedBefore { continue }
            #expect(bench.machine.copyEnded(jobs[0].tag, isTaken: false, at: bench.now).settled.isEmpty)
            #expect(bench.advance().stops && bench.machine.isIdle)
        }
    }

    @Test("What waits for ten minutes goes to a retry queue without an attempt")
    func heldTooLong() throws {
        var bench = Bench(requestsMaximum: 1)
        let first = try #require(bench.deliver(2).first)
        let copies = bench.pass(milliseconds: 600_000).copies
        #expect(copies.count == 1 && copies.first?.delayMilliseconds == 300_000)
        #expect(copies.first?.message.header("apus-webhook-attempts") == .int64(0))
        #expect(bench.answer(first, .taken).settled == [first.tag])
    }

    @Test("Deliveries of an earlier connection are neither posted nor copied: they come again")
    func earlierConnection() throws {
        var bench = Bench(requestsMaximum: 1)
        let jobs = bench.deliver(2)
        bench.machine.consumptionBegan(epoch: 2)
        let actions = bench.answer(jobs[0], .refused(status: 500))
        #expect(actions.copies.isEmpty && actions.posts.isEmpty && bench.machine.isIdle)
    }

    @Test("At the end nothing more is posted, what is under way is still settled or copied, and then consuming stops")
    func stop() throws {
        var bench = Bench(requestsMaximum: 2)
        let jobs = bench.deliver(3)
        bench.machine.stopBegan()
        #expect(bench.advance().isEmpty)
        #expect(bench.answer(jobs[0], .taken).settled == [jobs[0].tag])
        #expect(bench.answer(jobs[1], .refused(status: 500)).copies.count == 1)
        #expect(!bench.machine.isIdle)
        #expect(!bench.advance().stops)
        #expect(bench.machine.copyEnded(jobs[1].tag, isTaken: true, at: bench.now).settled == [jobs[1].tag])
        #expect(bench.machine.isIdle)
        #expect(bench.advance().stops && bench.deliver().isEmpty && !bench.advance().stops)
    }

    @Test("A copy has no time to live of its own, which would end its wait early")
    func expiration() throws {
        var message = Message(body: Array(#"{"outcome":"accepted"}"#.utf8))
        message.properties.expiration = "0"
        var machine = WebhookMachine(requestsMaximum: 1)
        machine.consumptionBegan(epoch: 1)
        let now = Moment(wall: WallTime(milliseconds: 1_700_000_000_000), monotonic: .init(nanoseconds: 1))
        let tag = DeliveryTag(epoch: 1, number: 1)
        machine.received([
            WebhookJob(
                Delivery(
                    tag: tag, deliveryClass: .interactive, isRedelivered: false, exchange: "", routingKey: "",
                    message: message), at: now)
        ])
        _ = machine.advance(at: now)
        let copy = try #require(machine.answered(tag, .refused(status: 500), at: now).copies.first)
        #expect(copy.message.properties.expiration == nil)
    }

    @Test("Forged headers neither trap nor keep an outcome for ever")
    func forgedHeaders() throws {
        for (attempts, since) in [(Int64.max, Int64.max), (.min, .min), (-1, 253_402_300_799_999)] {
            var bench = Bench(retentionMilliseconds: 60_000)
            let headers = [
                MessageHeader("apus-webhook-attempts", .int64(attempts)),
                MessageHeader("apus-webhook-since-ms", .int64(since)),
            ]
            let job = try #require(bench.deliver(headers: headers).first)
            #expect(job.failedAttempts >= 0 && job.since <= bench.now.wall)
            _ = bench.pass(milliseconds: 60_000)
            #expect(bench.answer(job, .refused(status: 500)).dropped == [job.tag])
        }
    }
}

@Suite("Answers of backends")
struct WebhookAnswerTests {
    @Test("2xx takes an outcome, 410 ends all, 429 and 503 ask to wait, and everything else is tried again")
    func statuses() {
        for status in [200, 201, 202, 204, 299] {
            #expect(WebhookAnswer(status: status, retryAfterSeconds: 9) == .taken)
        }
        #expect(WebhookAnswer(status: 410, retryAfterSeconds: nil) == .gone)
        for status in [429, 503] {
            #expect(
                WebhookAnswer(status: status, retryAfterSeconds: 9) == .busy(status: status, retryAfterSeconds: 9))
        }
        for status in [0, 100, 199, 300, 301, 302, 307, 400, 401, 404, 408, 500, 502, 504, 999] {
            #expect(WebhookAnswer(status: status, retryAfterSeconds: 9) == .refused(status: status))
        }
    }
}
