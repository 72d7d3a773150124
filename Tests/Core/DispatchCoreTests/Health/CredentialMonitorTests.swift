import Essentials
import Notifications
import PushTestKit
import RegistryCore
import Testing

@testable import DispatchCore

@Suite("Who may convict a key")
struct CredentialMonitorTests {
    private var monitor = CredentialMonitor(seed: 7)
    private var milliseconds: Int64 = 1_000_000

    private var now: MonotonicTime { Samples.monotonic(milliseconds) }

    private static func token(_ name: String) -> DeviceToken { Samples.device(name).token }

    private static func endpoint(_ name: String, at origin: String) -> DeviceToken {
        let keys = WebPushKeys(
            publicKey: [4] + Array(repeating: 1, count: 64), authenticationSecret: Array(repeating: 2, count: 16))
        guard let keys,
            let token = DeviceToken(
                text: Array("https://\(origin)/\(name)".utf8), details: PushAddressDetails(webPushKeys: keys))
        else { preconditionFailure("a sample endpoint is a valid token") }
        return token
    }

    private mutating func accept(_ token: DeviceToken, route: Int = 0) -> CredentialMonitor.Change? {
        milliseconds += 200
        return monitor.accepted(token, route: route, at: now)
    }

    private mutating func refuse(
        _ token: DeviceToken, route: Int = 0, isOfEnvironment: Bool = false
    ) -> (wait: CredentialMonitor.Wait, change: CredentialMonitor.Change?) {
        monitor.refused(token, route: route, isOfEnvironment: isOfEnvironment, at: now)
    }

    private mutating func goesOut(_ token: DeviceToken, route: Int = 0) -> Bool {
        monitor.wait(for: token, route: route, at: now) == nil
    }

    @Test("An environment whose key is for the other one is paused at once, and the other goes on")
    mutating func environment() {
        let refusal = refuse(Self.token("phone"), route: 1, isOfEnvironment: true)
        #expect(refusal.change != nil && !refusal.wait.spendsAttempt)
        for number in 0..<100 {
            let isOut = goesOut(Self.token("a\(number)"))
            _ = accept(Self.token("a\(number)"))
            #expect(isOut)
        }
        #expect(monitor.isKeyRefused && monitor.pausedScopes.map(\.route) == [1])
    }

    @Test("One address that is refused among accepted ones is in trouble alone, each time for longer")
    mutating func address() {
        var waits: [Int] = []
        for _ in 0..<5 {
            milliseconds += 1_000 * Int64(waits.last ?? 0)
            _ = accept(Self.token("good"))
            let refusal = refuse(Self.token("bad"))
            #expect(refusal.change == nil && refusal.wait.spendsAttempt)
            waits.append(refusal.wait.seconds)
        }
        #expect(waits == [1, 5, 30, 120, 600])
        #expect(!monitor.isKeyRefused)
        let others = [goesOut(Self.token("other")), goesOut(Self.token("bad"))]
        #expect(others == [true, false])
        milliseconds += 600_000
        let later = goesOut(Self.token("bad"))
        #expect(later)
    }

    @Test("Pushes to one address that were out together are refused once")
    mutating func together() {
        _ = accept(Self.token("good"))
        let waits = (0..<5).map { _ in refuse(Self.token("phone")).wait.seconds }
        #expect(waits == [1, 1, 1, 1, 1])
        milliseconds += 1_000
        let isOut = goesOut(Self.token("phone"))
        #expect(isOut)
    }

    @Test("A key that was good is found to be wrong however few devices an app has", arguments: 1...7)
    mutating func revoked(deviceCount: Int) {
        let tokens = (0..<deviceCount).map { Self.token("a\($0)") }
        milliseconds += 1_000
        for token in tokens { _ = monitor.accepted(token, route: 0, at: now) }
        for _ in 0..<2 {
            for token in tokens { _ = refuse(token) }
            milliseconds += 1_000
        }
        #expect(monitor.isKeyRefused)
    }

    @Test("An origin that served well and refuses for a while is asked again soon, whatever other origins accept")
    mutating func servedWell() {
        for number in 0..<20 { _ = accept(Self.endpoint("\(number)", at: "updates.push.services.mozilla.com")) }
        var waits: [Int] = []
        for second in 0..<600 {
            let refusal = refuse(Self.endpoint("\(second % 20)", at: "updates.push.services.mozilla.com"))
            if second > 20 {
                waits.append(refusal.wait.seconds)
                #expect(!refusal.wait.spendsAttempt)
            }
            milliseconds += 800
            _ = accept(Self.endpoint("1", at: "visitor.example"))
        }
        #expect(waits.allSatisfy { $0 <= 30 })
    }

    @Test("The first address that is refused keeps no other back, and is shown when it is refused again")
    mutating func firstAddress() {
        #expect(refuse(Self.token("bad")).change == nil && !monitor.isKeyRefused)
        #expect(refuse(Self.token("bad")).change != nil && monitor.isKeyRefused)
        for number in 0..<50 {
            let isOut = goesOut(Self.token("a\(number)"))
            #expect(isOut)
        }
        #expect(accept(Self.token("a0")) != nil && !monitor.isKeyRefused)
    }

    @Test("An origin of strangers that refuses everything says nothing about the key")
    mutating func origin() {
        for number in 0..<20 {
            let refusal = refuse(Self.endpoint("\(number)", at: "evil.example"))
            #expect(!refusal.wait.spendsAttempt)
        }
        #expect(monitor.pausedScopes.count == 1 && !monitor.isKeyRefused)
        for number in 0..<50 {
            let isOut = goesOut(Self.endpoint("\(number)", at: "fcm.googleapis.com"))
            #expect(isOut)
        }
        _ = accept(Self.endpoint("1", at: "fcm.googleapis.com"))
        #expect(refuse(Self.endpoint("21", at: "evil.example")).wait.spendsAttempt)
    }

    @Test("A VAPID key that several origins refuse and none accepts is refused")
    mutating func everyOrigin() {
        for number in 0..<2 {
            for origin in ["a.example", "b.example"] { _ = refuse(Self.endpoint("\(number)", at: origin)) }
        }
        #expect(monitor.isKeyRefused)
        _ = accept(Self.endpoint("3", at: "c.example"))
        #expect(!monitor.isKeyRefused)
    }

    @Test("Two addresses that were accepted before and are refused now convict the key, and a probe acquits it")
    mutating func acceptedBefore() {
        for number in 0..<20 { _ = accept(Self.token("a\(number)")) }
        #expect(refuse(Self.token("a1")).change == nil)
        #expect(refuse(Self.token("a2")).change != nil)
        let probe = goesOut(Self.token("a3"))
        #expect(probe && accept(Self.token("a3")) != nil)
        #expect(!monitor.isKeyRefused)
    }

    @Test("While few probes are left, addresses that were accepted before go first, and refused ones last")
    mutating func probes() {
        for number in 0..<20 { _ = accept(Self.token("a\(number)")) }
        for number in 0..<8 { _ = refuse(Self.token("b\(number)")) }
        var out = 0
        for number in 0..<20 where goesOut(Self.token("c\(number)")) { out += 1 }
        let known = goesOut(Self.token("a1"))
        let refused = goesOut(Self.token("b1"))
        #expect(out == 3 && known && !refused)
        milliseconds += CredentialMonitor.otherProbesMilliseconds
        let last = goesOut(Self.token("b1"))
        #expect(last, "there is no other")
    }

    @Test("Any number of addresses and origins takes bounded memory")
    mutating func bounds() {
        for number in 0..<10_000 {
            _ = refuse(Self.endpoint("\(number)", at: "h\(number).evil.example"))
            _ = refuse(Self.endpoint("\(number)b", at: "h\(number).evil.example"))
        }
        #expect(monitor.pausedScopes.count <= CredentialMonitor.scopesMaximum)
        _ = accept(Self.endpoint("1", at: "fcm.googleapis.com"))
        for number in 0..<1_000 { _ = refuse(Self.endpoint("\(number)", at: "i\(number).evil.example")) }
        #expect(!monitor.isKeyRefused)
    }
}

@Suite("Credentials under random mixtures of trouble")
struct CredentialMixtureTests {
    @Test("A good address gets its pushes in time, whatever else is refused", arguments: 1...60)
    func goodAddresses(seed: UInt64) {
        var mixture = CredentialMixture(seed: seed, isKeyWrong: false)
        mixture.run(seconds: 240)
        #expect(mixture.longestWaitSeconds <= 60, "seed \(seed): \(mixture)")
        #expect(mixture.acceptedCount > 0)
    }

    @Test("A wrong key is found out within 5 s, and costs at most ten requests a minute", arguments: 1...20)
    func wrongKey(seed: UInt64) {
        var mixture = CredentialMixture(seed: seed, isKeyWrong: true)
        mixture.run(seconds: 240)
        #expect(mixture.acceptedCount == 0)
        #expect(mixture.foundOutSeconds.map { $0 <= 5 } ?? false, "seed \(seed): \(mixture)")
        #expect(mixture.mostRequestsAMinute <= 10, "seed \(seed): \(mixture)")
    }
}
