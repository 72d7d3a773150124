import Notifications
import Testing

@testable import WebPushTransport

@Suite("Origins of pushes")
struct OriginTableTests {
    private static func key(_ number: Int, app: Int = 0) throws -> OriginTable.Key {
        OriginTable.Key(app: app, audience: try VAPIDAudience(endpoint: "https://s\(number).example"))
    }

    @Test("The stranger that was used least recently makes room, and none with a push out does")
    func eviction() throws {
        var table = OriginTable(originsMaximum: 4)
        same(table.place(of: try Self.key(0), .stranger, nowNanoseconds: 1), .opened(0, dropped: nil))
        same(table.accepted(0), true)
        same(table.place(of: try Self.key(1), .stranger, nowNanoseconds: 2), .opened(1, dropped: nil))
        same(table.place(of: try Self.key(0), .stranger, nowNanoseconds: 3), .found(0))
        same(table.begin(0, nowNanoseconds: 3), nil)
        same(table.place(of: try Self.key(2), .stranger, nowNanoseconds: 4), .opened(1, dropped: 1))
        same(table.begin(1, nowNanoseconds: 4), nil)
        same(table.place(of: try Self.key(3), .stranger, nowNanoseconds: 5), .full(.unprovenOfApp))
        table.end(1, isAnswered: false, nowNanoseconds: 6)
        same(table.place(of: try Self.key(3), .stranger, nowNanoseconds: 7), .opened(1, dropped: 1))
        same(table.place(of: try Self.key(4), .named, nowNanoseconds: 8), .opened(2, dropped: nil))
    }

    @Test("A stranger is to blame for a push that was not processed only while others can be reached")
    func blame() throws {
        var table = OriginTable(originsMaximum: 128)
        for number in 0...1 { _ = table.place(of: try Self.key(number), .stranger, nowNanoseconds: 0) }
        _ = table.place(of: try Self.key(2), .below(suffix: ".example"), nowNanoseconds: 0)
        #expect(table.ending(0, "away") == .notProcessed("away"), "perhaps our own network is away")
        table.reachabilityChanged(1, isReachable: true, nowNanoseconds: 0)
        #expect(table.ending(0, "away") == .unreachable("away"))
        #expect(table.ending(2, "away") == .notProcessed("away"), "a known service comes back")
    }

    @Test("Apps do not share an origin")
    func apps() throws {
        var table = OriginTable(originsMaximum: 4)
        same(table.place(of: try Self.key(0), .named, nowNanoseconds: 1), .opened(0, dropped: nil))
        same(table.place(of: try Self.key(0, app: 1), .named, nowNanoseconds: 1), .opened(1, dropped: nil))
    }

    @Test("An origin that cannot be reached takes a few pushes, and others take all")
    func probes() throws {
        var table = OriginTable(originsMaximum: 4)
        for number in 0...1 { _ = table.place(of: try Self.key(number), .named, nowNanoseconds: 0) }
        table.reachabilityChanged(0, isReachable: false, nowNanoseconds: 0)
        var admitted = 0
        for _ in 0..<100 where table.begin(0, nowNanoseconds: 1) == nil { admitted += 1 }
        #expect(admitted == OriginTable.probesMaximum)
        for _ in 0..<100 { same(table.begin(1, nowNanoseconds: 1), nil) }
        table.reachabilityChanged(0, isReachable: true, nowNanoseconds: 0)
        same(table.begin(0, nowNanoseconds: 2), nil)
    }

    @Test("An origin without answers takes a few pushes until it answers")
    func silence() throws {
        var table = OriginTable(originsMaximum: 4)
        _ = table.place(of: try Self.key(0), .named, nowNanoseconds: 0)
        for _ in 0..<20 { same(table.begin(0, nowNanoseconds: 1), nil) }
        let late = OriginTable.patienceNanoseconds + 1
        same(table.begin(0, nowNanoseconds: late) == nil, false)
        table.end(0, isAnswered: false, nowNanoseconds: late)
        same(table.begin(0, nowNanoseconds: late) == nil, false)
        table.end(0, isAnswered: true, nowNanoseconds: late)
        same(table.begin(0, nowNanoseconds: late), nil)
    }

    @Test("A route leads somewhere as long as some origin does, and unknown origins alone never close it")
    func reachability() throws {
        var table = OriginTable(originsMaximum: 4)
        for number in 0..<3 {
            _ = table.place(of: try Self.key(number), number < 2 ? .named : .stranger, nowNanoseconds: 0)
        }
        #expect(table.isReachable(app: 0) == nil)
        table.reachabilityChanged(2, isReachable: false, nowNanoseconds: 0)
        #expect(table.isReachable(app: 0) == nil)
        table.reachabilityChanged(0, isReachable: false, nowNanoseconds: 0)
        #expect(table.isReachable(app: 0) == false)
        table.reachabilityChanged(1, isReachable: true, nowNanoseconds: 0)
        #expect(table.isReachable(app: 0) == true)
        table.reachabilityChanged(1, isReachable: false, nowNanoseconds: 0)
        same(table.timePassed(nowNanoseconds: OriginTable.unreachableNanoseconds), [0, 1, 2])
        #expect(table.isReachable(app: 0) == nil)
    }

    @Test("A made-up name below a known suffix never closes a route, and one that has accepted a push does")
    func reachabilityBelowSuffix() throws {
        var table = OriginTable(originsMaximum: 4)
        _ = table.place(of: try Self.key(0), .below(suffix: ".example"), nowNanoseconds: 0)
        table.reachabilityChanged(0, isReachable: false, nowNanoseconds: 0)
        #expect(table.isReachable(app: 0) == nil)
        same(table.accepted(0), true)
        #expect(table.isReachable(app: 0) == false)
    }

    @Test(
        "An origin without HTTP/2 is served over HTTP/1.1 for a while, and only that client says whether it is reached")
    func http1() throws {
        var table = OriginTable(originsMaximum: 4)
        _ = table.place(of: try Self.key(0), .named, nowNanoseconds: 0)
        #expect(!table.usesHTTP1(0, nowNanoseconds: 1))
        table.http2IsMissing(0, nowNanoseconds: 1)
        #expect(table.usesHTTP1(0, nowNanoseconds: 2))
        table.reachabilityChanged(0, isReachable: false, nowNanoseconds: 2)
        #expect(table.isReachable(app: 0) == nil)
        table.reachabilityChanged(0, isReachable: false, isHTTP1: true, nowNanoseconds: 3)
        #expect(table.isReachable(app: 0) == false)
        table.reachabilityChanged(0, isReachable: true, isHTTP1: true, nowNanoseconds: 4)
        #expect(table.isReachable(app: 0) == true)
        #expect(!table.usesHTTP1(0, nowNanoseconds: 1 + OriginTable.http1Nanoseconds))
        table.reachabilityChanged(0, isReachable: true, nowNanoseconds: 5)
        #expect(!table.usesHTTP1(0, nowNanoseconds: 6))
    }
}

/// Compares what a mutating call answers, which a macro cannot make.
private func same<Value: Equatable>(_ value: Value, _ expected: Value, at location: SourceLocation = #_sourceLocation) {
    #expect(value == expected, sourceLocation: location)
}
