import Notifications
import PushTestKit
import Testing

@testable import WebPushTransport

@Suite("The places of origins")
struct OriginQuotasTests {
    private static func key(_ host: String, app: Int) throws -> OriginTable.Key {
        OriginTable.Key(app: app, audience: try VAPIDAudience(endpoint: "https://\(host)"))
    }

    @Test(
        "The owner of a host is told by the end of its name, or by its address",
        arguments: [
            ("a.b.evil.example", "evil.example"), ("evil.example", "evil.example"), ("x", "x"),
            ("1.2.3.4", "[1, 2, 3, 4]"), ("0x01020304", "[1, 2, 3, 4]"), ("2001:db8:7::1", "[32, 1, 13, 184, 0, 7]"),
            ("2001:db8:7:ffff::2", "[32, 1, 13, 184, 0, 7]"), ("a.b.evil.example.", "evil.example"),
        ])
    func owners(host: String, owner: String) { #expect(OriginQuotas.owner(of: host) == owner) }

    @Test("The host of an audience is that of its endpoint", arguments: ["a.example", "1.2.3.4", "[2001:db8::1]"])
    func hosts(host: String) throws {
        for port in ["", ":8443"] {
            let audience = try VAPIDAudience(endpoint: "https://\(host)\(port)/x")
            #expect("[\(audience.host)]" == host || audience.host == host)
        }
    }

    @Test("One wildcard name gets few places of an app, and none of another app's")
    func wildcard() throws {
        var table = OriginTable(originsMaximum: 128)
        var openedCount = 0
        for number in 0..<300 {
            switch table.place(of: try Self.key("w\(number).evil.example", app: 0), .stranger, nowNanoseconds: 1) {
            case .opened(let place, _):
                openedCount += 1
                same(table.begin(place, nowNanoseconds: 1), nil)
            case .full(let bound): #expect(bound == .owner)
            case .found: Issue.record("each is new")
            }
        }
        #expect(openedCount == 4)
        same(
            table.place(of: try Self.key("w1.evil.example", app: 1), .stranger, nowNanoseconds: 1),
            .opened(4, dropped: nil))
    }

    @Test("Pushes to all origins that have not accepted any are bounded, until one accepts")
    func unprovenPushes() throws {
        var table = OriginTable(originsMaximum: 128)
        _ = table.place(of: try Self.key("a.example", app: 0), .stranger, nowNanoseconds: 0)
        _ = table.place(of: try Self.key("b.example", app: 0), .stranger, nowNanoseconds: 0)
        var outCount = 0
        while table.begin(outCount % 2, nowNanoseconds: 1) == nil { outCount += 1 }
        #expect(outCount == OriginQuotas.unprovenPushesMaximum)
        same(table.accepted(0), true)
        same(table.begin(0, nowNanoseconds: 1), nil)
        same(table.begin(1, nowNanoseconds: 1), nil)
        for _ in 0...outCount / 2 {
            table.end(0, isAnswered: true, nowNanoseconds: 2)
            table.end(1, isAnswered: true, nowNanoseconds: 2)
        }
        table.drop(1)
        _ = table.place(of: try Self.key("b.example", app: 0), .stranger, nowNanoseconds: 3)
        var again = 0
        while table.begin(1, nowNanoseconds: 3) == nil { again += 1 }
        #expect(again == OriginQuotas.unprovenPushesMaximum, "every push that was counted has ended")
    }

    @Test("However many apps have strangers that never answer, each further app finds places")
    func manyHostileApps() throws {
        var table = OriginTable(originsMaximum: 128)
        for app in 0..<20 {
            for number in 0..<100 {
                let place = table.place(
                    of: try Self.key("w.tarpit\(number).example", app: app), .stranger, nowNanoseconds: 1)
                guard case .opened(let opened, _) = place else { break }
                same(table.begin(opened, nowNanoseconds: 1), nil)
                if number.isMultiple(of: 2) { _ = table.accepted(opened) }
            }
            let count = table.origins.count { $0?.key.app == app }
            #expect(count >= OriginQuotas.leastMaximum, "the app \(app)")
        }
        #expect(table.origins.count <= 128 + 20 * OriginQuotas.leastMaximum)
    }

    @Test("A fan-out to a service below a known suffix is not cut after a start, whatever strangers there are")
    func belowSuffix() throws {
        var table = OriginTable(originsMaximum: 128)
        _ = table.place(of: try Self.key("tarpit.example", app: 0), .stranger, nowNanoseconds: 0)
        while table.begin(0, nowNanoseconds: 1) == nil {}
        let suffix = ".notify.windows.com"
        _ = table.place(of: try Self.key("wns1\(suffix)", app: 0), .below(suffix: suffix), nowNanoseconds: 1)
        for _ in 0..<10_000 { try #require(table.begin(1, nowNanoseconds: 1) == nil) }
        for _ in 0..<10_000 { table.end(1, isAnswered: true, nowNanoseconds: 2) }
    }

    /// One hostile app, and honest ones beside it.
    private struct World {
        static let hostileApp = 0
        static let honestApps = 1...3
        static let suffix = ".notify.windows.com"

        var table = OriginTable(originsMaximum: 128)
        var random: SeededGenerator
        var now: UInt64 = 0
        /// The pushes out, by place.
        var out: [Int] = []

        mutating func step() throws {
            now += 100_000_000
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<6: try hostilePush()
            case 6..<8: try honestPush()
            case 8: endSome()
            default: _ = table.timePassed(nowNanoseconds: now)
            }
        }

        private mutating func hostilePush() throws {
            let host =
                [
                    "w\(Int.random(in: 0..<500, using: &random)).evil.example",
                    "w.evil\(Int.random(in: 0..<500, using: &random)).example",
                    "made-up-\(Int.random(in: 0..<500, using: &random))\(Self.suffix)",
                    "66.6.\(Int.random(in: 0..<250, using: &random)).1",
                ].randomElement(using: &random) ?? ""
            let isBelow = host.hasSuffix(Self.suffix)
            let place = table.place(
                of: try key(host, app: Self.hostileApp), isBelow ? .below(suffix: Self.suffix) : .stranger,
                nowNanoseconds: now)
            switch place {
            case .found(let place), .opened(let place, _):
                guard table.begin(place, nowNanoseconds: now) == nil else { return }
                out.append(place)
                // It may accept once, and never answer again.
                if !isBelow, Int.random(in: 0..<4, using: &random) == 0 { _ = table.accepted(place) }
            case .full: break
            }
        }

        private mutating func honestPush() throws {
            let app = Int.random(in: Self.honestApps, using: &random)
            let number = Int.random(in: 0..<8, using: &random)
            let (host, standing): (String, PushHostRule.Standing) =
                [
                    ("fcm.googleapis.com", .named), ("wns\(number)\(Self.suffix)", .below(suffix: Self.suffix)),
                    ("push.friend\(app)-\(number).example", .stranger),
                ].randomElement(using: &random) ?? ("", .named)
            switch table.place(of: try key(host, app: app), standing, nowNanoseconds: now) {
            case .found(let place), .opened(let place, _):
                try #require(table.begin(place, nowNanoseconds: now) == nil, "\(host)")
                _ = table.accepted(place)
                table.end(place, isAnswered: true, nowNanoseconds: now)
            case .full(let bound): Issue.record("\(host) of the app \(app) found no place: \(bound)")
            }
        }

        private mutating func endSome() {
            for _ in 0..<Int.random(in: 0..<40, using: &random) where !out.isEmpty {
                table.end(
                    out.remove(at: Int.random(in: out.indices, using: &random)), isAnswered: false,
                    nowNanoseconds: now)
            }
        }

        private func key(_ host: String, app: Int) throws -> OriginTable.Key {
            try OriginQuotasTests.key(host, app: app)
        }

        func check() {
            let strangers = table.origins.compactMap { $0 }.filter { $0.standing == .stranger }
            let unproven = strangers.filter { !$0.isProven }
            let spare = OriginQuotas.leastMaximum * 4
            #expect(strangers.count <= 128 + spare && unproven.count <= 64 + spare)
            #expect(strangers.count { $0.key.app == Self.hostileApp } <= 64)
            #expect(unproven.count { $0.key.app == Self.hostileApp } <= 32)
            let owners = Dictionary(grouping: unproven) { "\($0.key.app) \($0.owner)" }
            #expect(owners.values.allSatisfy { $0.count <= 4 })
            let madeUp = table.origins.compactMap { $0 }.filter { !$0.isReserved && $0.standing != .stranger }
            #expect(madeUp.count { $0.key.app == Self.hostileApp } <= 32)
        }
    }

    @Test(
        "Whatever hosts one app makes up, the known and the few unknown services of the other apps have their places",
        arguments: [1, 2, 3, 4] as [UInt64])
    func isolation(seed: UInt64) throws {
        var world = World(random: SeededGenerator(seed: seed))
        for number in 0..<4_000 {
            try world.step()
            if number.isMultiple(of: 50) { world.check() }
        }
        #expect(world.table.origins.contains { $0?.key.app == World.hostileApp && $0?.outstanding ?? 0 > 0 })
    }
}

/// Compares what a mutating call answers, which a macro cannot make.
private func same<Value: Equatable>(_ value: Value, _ expected: Value, at location: SourceLocation = #_sourceLocation) {
    #expect(value == expected, sourceLocation: location)
}
