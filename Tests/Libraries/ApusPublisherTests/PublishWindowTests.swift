import Testing

@testable import ApusPublisher

@Suite("The window of unconfirmed events")
struct PublishWindowTests {
    private static let closed = PublisherError(.closed, "closed")

    private static func events(_ range: Range<Int>) throws -> [Event] {
        try range.map { try SampleEvents.changed($0) }
    }

    @Test("As many events as there is room for leave in order, and each result makes room for the next")
    func keepsTheBound() throws {
        var window = PublishWindow(roomMaximum: 3)
        let events = try Self.events(0..<5)
        let first = window.add(Array(events[0..<2]))
        let second = window.add(Array(events[2..<5]))
        #expect(window.takeOutgoing().map(\.event) == Array(events[0..<3]))
        #expect(window.sentCount == 3 && window.takeOutgoing().isEmpty)
        #expect(window.ended(2, .confirmed) == first)
        #expect(window.takeResults(of: first) == nil)
        #expect(window.takeOutgoing() == [PublishWindow.Outgoing(identifier: 4, event: events[3])])
        #expect(window.ended(1, .failed(Self.closed)) == first)
        #expect(window.takeResults(of: first) == [.failed(Self.closed), .confirmed])
        #expect(window.takeResults(of: first) == nil && window.openBatches == [second])
        #expect(window.takeOutgoing().map(\.event) == [events[4]])
        for identifier in [3, 4, 5] as [UInt64] { #expect(window.ended(identifier, .confirmed) == second) }
        #expect(window.takeResults(of: second) == [.confirmed, .confirmed, .confirmed])
    }

    @Test("An abandoned batch keeps its room until it has outcomes, and what was not sent never is")
    func abandonedBatches() throws {
        var window = PublishWindow(roomMaximum: 2)
        let events = try Self.events(0..<4)
        let first = window.add(Array(events[0..<3]))
        let second = window.add([events[3]])
        #expect(window.takeOutgoing().count == 2)
        #expect(window.ended(1, .confirmed) == first)
        #expect(
            window.abandon(first, because: Self.closed)
                == [.confirmed, .failed(Self.closed), .failed(Self.closed)])
        #expect(window.abandon(first, because: Self.closed) == nil)
        #expect(window.takeOutgoing() == [PublishWindow.Outgoing(identifier: 3, event: events[3])])
        #expect(window.sentCount == 2)
        #expect(window.ended(2, .confirmed) == nil)
        #expect(window.sentCount == 1 && window.ended(3, .confirmed) == second)
    }

    @Test("Without a bound everything leaves")
    func closing() throws {
        var window = PublishWindow(roomMaximum: 1)
        _ = window.add(try Self.events(0..<3))
        #expect(window.takeOutgoing().count == 1)
        window.removeBound()
        #expect(window.takeOutgoing().map(\.identifier) == [2, 3] && window.sentCount == 3)
    }
}
