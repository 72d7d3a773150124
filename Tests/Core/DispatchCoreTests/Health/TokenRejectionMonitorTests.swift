import Essentials
import Notifications
import PushTestKit
import Testing

@testable import DispatchCore

@Suite("Tokens that are called bad")
struct TokenRejectionMonitorTests {
    private var monitor = TokenRejectionMonitor()

    /// Calls a token bad, and says whether it is dead.
    private mutating func isDead(_ token: UInt64, sent: Int64? = nil, at now: Int64) -> Bool {
        monitor.tokenWasBad(digest: token, sent: Samples.monotonic(sent ?? now), at: Samples.monotonic(now)) == .dead
    }

    private mutating func accept(_ token: UInt64, sent: Int64) {
        monitor.tokenWasGood(digest: token, isAccepted: true, sent: Samples.monotonic(sent))
    }

    @Test("A token is dead that was called bad twice, with a push to another accepted that went out in between")
    mutating func confirmation() {
        var dead = [isDead(1, at: 10), isDead(1, at: 11)]
        accept(2, sent: 9)
        accept(2, sent: 10)
        dead.append(isDead(1, at: 12))
        monitor.tokenWasGood(digest: 3, isAccepted: false, sent: Samples.monotonic(13))
        dead.append(isDead(1, at: 14))
        #expect(dead == [false, false, false, false])
        accept(2, sent: 15)
        dead = [isDead(1, sent: 14, at: 16), isDead(1, at: 16), isDead(1, at: 17)]
        #expect(dead == [false, true, false], "it has to go out later, and is suspected again after its removal")
        accept(1, sent: 18)
        accept(2, sent: 19)
        let isDeadAfterGood = isDead(1, at: 20)
        #expect(!isDeadAfterGood, "it has proved to be good itself")
    }

    @Test("A push whose token is called bad waits for longer each time")
    mutating func waits() {
        let verdicts = (0..<4).map {
            monitor.tokenWasBad(
                digest: 1, sent: Samples.monotonic(Int64($0)), at: Samples.monotonic(Int64($0)))
        }
        #expect(verdicts == [1, 5, 30, 30].map { .deferPush(seconds: $0) })
    }

    @Test("The same few bad tokens, asked again and again among good ones, put no app in doubt")
    mutating func fewBadTokens() {
        for round in 0..<100 {
            for token in 1...8 as ClosedRange<UInt64> { _ = isDead(token, at: Int64(round)) }
            accept(99, sent: Int64(round))
            if round > 10 { #expect(!monitor.isInDoubt) }
        }
    }

    @Test("An app with one token, which is called bad again and again, is in doubt and keeps it")
    mutating func oneToken() {
        for round in 0..<TokenRejectionMonitor.evidenceMinimum {
            let isDead = isDead(1, at: Int64(round))
            #expect(!isDead)
        }
        #expect(monitor.isInDoubt)
    }

    @Test("Bad tokens of any number are convicted in the end, and meanwhile none is asked each second")
    mutating func manyBadTokens() {
        var waiting = Dictionary(uniqueKeysWithValues: (1...3_000 as ClosedRange<UInt64>).map { ($0, Int64(0)) })
        var askedCount = 0
        for now in 0..<Int64(1_200) where !waiting.isEmpty {
            for good in 10_000..<10_200 as Range<UInt64> { accept(good, sent: 1_000 * now) }
            // Few at a time, so that most answers are good.
            for (token, _) in waiting.filter({ $0.value <= now }).sorted(by: { $0 < $1 }).prefix(100) {
                askedCount += 1
                let verdict = monitor.tokenWasBad(
                    digest: token, sent: Samples.monotonic(1_000 * now), at: Samples.monotonic(1_000 * now))
                if case .deferPush(let seconds) = verdict { waiting[token] = now + Int64(seconds) }
                if verdict == .dead { waiting[token] = nil }
            }
        }
        #expect(waiting.isEmpty && askedCount < 10 * 3_000, "\(waiting.count) left after \(askedCount) pushes")
    }

    @Test("While as many tokens are suspected as are remembered, pushes to others wait, until those are old")
    mutating func bounds() {
        for token in 1...10_000 as ClosedRange<UInt64> { _ = isDead(token, at: Int64(token)) }
        func wait(_ token: UInt64, at now: Int64) -> TokenRejectionMonitor.Verdict {
            monitor.tokenWasBad(digest: token, sent: Samples.monotonic(now), at: Samples.monotonic(now))
        }
        #expect(wait(20_000, at: 10_001) == .deferPush(seconds: 30))
        #expect(wait(20_000, at: 10_001 + TokenRejectionMonitor.suspicionMilliseconds) == .deferPush(seconds: 1))
    }

    @Test(
        "A wrong configuration removes no device, however many an app has and however many workers",
        arguments: 1...60)
    func misconfiguration(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let deviceCount = Int.random(in: 1...1_000, using: &generator)
        let workerCount = Int.random(in: 1...8, using: &generator)
        var monitors = Array(repeating: TokenRejectionMonitor(), count: workerCount)
        let (begins, ends) = (Int64(deviceCount) * 3, Int64(deviceCount) * 7)
        let dead = Set((0..<deviceCount).filter { _ in Int.random(in: 0..<20, using: &generator) == 0 })
        var removed: Set<Int> = []
        // The unanswered pushes of each worker: the device, the time of the send, and the coming answer.
        var out: [[(device: Int, sent: Int64, isBad: Bool)]] = Array(repeating: [], count: workerCount)
        for now in 0..<Int64(deviceCount) * 10 {
            let worker = Int.random(in: 0..<workerCount, using: &generator)
            let device = Int.random(in: 0..<deviceCount, using: &generator)
            if !removed.contains(device) {
                let isBad = (begins..<ends).contains(now) || dead.contains(device)
                out[worker].append((device, now, isBad))
            }
            while out[worker].count > Int.random(in: 0...20, using: &generator) {
                let push = out[worker].remove(at: Int.random(in: out[worker].indices, using: &generator))
                let digest = UInt64(push.device + 1)
                if push.isBad {
                    let verdict = monitors[worker].tokenWasBad(
                        digest: digest, sent: Samples.monotonic(push.sent), at: Samples.monotonic(now))
                    if verdict == .dead { removed.insert(push.device) }
                } else {
                    monitors[worker].tokenWasGood(
                        digest: digest, isAccepted: true, sent: Samples.monotonic(push.sent))
                }
            }
        }
        let lost = removed.subtracting(dead)
        #expect(lost.isEmpty, "seed \(seed): \(lost.count) of \(deviceCount) devices with \(workerCount) workers")
    }
}
