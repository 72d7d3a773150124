import Notifications
import Testing

@testable import RegistryAPI

@Suite("Who waits for notifications, and who gives way")
struct LongPollSlotsTests {
    private let second: UInt64 = 1_000_000_000
    private let slots = Watched()

    /// The slots by reference, because an expectation must not change the test itself.
    private final class Watched {
        private var slots = LongPollSlots<String>(
            LongPollSlots.Limits(
                slotsMaximum: 6, perClientMaximum: 3, waitNanoseconds: 50_000_000_000,
                olderWaitNanoseconds: 5_000_000_000))
        var count: Int { slots.count }
        var tokens: [DeviceToken] { slots.tokens }

        func arrived(
            _ poll: String, for token: DeviceToken, from address: String, nowNanoseconds: UInt64
        ) -> LongPollSlots<String>.Arrival {
            slots.arrived(poll, for: token, from: address, nowNanoseconds: nowNanoseconds)
        }

        func takeNewest(_ token: DeviceToken) -> String? { slots.takeNewest(token) }

        func takeAll(_ token: DeviceToken) -> [String] { slots.takeAll(token) }

        func takeAbandoned(_ isAbandoned: (String) -> Bool) -> [String] { slots.takeAbandoned(isAbandoned) }

        func takeDone(nowNanoseconds: UInt64) -> [String] { slots.takeDone(nowNanoseconds: nowNanoseconds) }
    }

    private func token(_ name: String) throws -> DeviceToken { try #require(DeviceToken(bytes: Array(name.utf8))) }

    /// Returns the fate of a request: "waits", "waits instead of …", "full" or "too many".
    private func come(
        _ poll: String, client: String, address: String = "192.0.2.1", at seconds: UInt64 = 0
    ) throws -> String {
        switch slots.arrived(poll, for: try token(client), from: address, nowNanoseconds: seconds * second) {
        case .waits(let other): other.map { "waits instead of \($0)" } ?? "waits"
        case .full: "full"
        case .tooManyOfClient: "too many"
        }
    }

    @Test("The newest request of a client gets the next notification, and the older ones never do")
    func newest() throws {
        #expect(try come("a1", client: "a") == "waits")
        #expect(try come("a2", client: "a", at: 1) == "waits")
        #expect(slots.takeNewest(try token("a")) == "a2")
        #expect(slots.tokens.isEmpty && slots.count == 1)
        #expect(slots.takeNewest(try token("a")) == nil)
        #expect(try come("a3", client: "a", at: 2) == "waits")
        #expect(slots.tokens == [try token("a")])
        #expect(slots.takeAll(try token("a")) == ["a1", "a3"])
        #expect(slots.count == 0)
    }

    @Test("An older request ends after some seconds, the newest after its whole time")
    func endings() throws {
        _ = try come("a1", client: "a")
        _ = try come("a2", client: "a", at: 1)
        #expect(slots.takeDone(nowNanoseconds: 4 * second).isEmpty)
        #expect(slots.takeDone(nowNanoseconds: 5 * second) == ["a1"])
        #expect(slots.takeDone(nowNanoseconds: 50 * second).isEmpty)
        #expect(slots.takeDone(nowNanoseconds: 51 * second) == ["a2"] && slots.count == 0)
    }

    @Test("Two tabs that come again whenever they are answered make few requests")
    func twoTabs() throws {
        var requests = 0
        var tabs = ["one", "other"]
        for time in 0..<UInt64(60) {
            for tab in tabs {
                #expect(try come(tab, client: "a", at: time) == "waits")
                requests += 1
            }
            tabs = slots.takeDone(nowNanoseconds: time * second)
        }
        #expect(requests <= 26)
    }

    @Test("A client has so many requests at most, and abandoned ones make room")
    func perClient() throws {
        for name in ["a1", "a2", "a3"] { #expect(try come(name, client: "a") == "waits") }
        #expect(try come("a4", client: "a") == "too many")
        #expect(slots.takeAbandoned { $0 == "a2" || $0 == "a3" } == ["a2", "a3"])
        #expect(try come("a5", client: "a") == "waits")
        #expect(slots.takeNewest(try token("a")) == "a5")
    }

    @Test("When all slots are taken, the address that has most gives one up to one that has fewer")
    func shares() throws {
        for number in 1...6 { _ = try come("x\(number)", client: "x\(number)", address: "198.51.100.1") }
        #expect(try come("x7", client: "x7", address: "198.51.100.1") == "full")
        #expect(try come("y1", client: "y1") == "waits instead of x1")
        #expect(try come("y2", client: "y2") == "waits instead of x2")
        #expect(try come("y3", client: "y3") == "waits instead of x3")
        // Now both have their share, and neither takes from the other.
        #expect(try come("y4", client: "y4") == "full")
        #expect(try come("x8", client: "x8", address: "198.51.100.1") == "full")
        #expect(try come("z1", client: "z1", address: "203.0.113.1").hasPrefix("waits instead of"))
        #expect(slots.count == 6 && slots.tokens.count == 6)
    }
}
