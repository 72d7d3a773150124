import PushServiceSimulator
import Testing

@testable import APNsSimulator

@Suite("Records")
struct RecordTests {
    @Test("Summaries of several loops add up")
    func summariesAddUp() {
        var first = SimulatorSummary()
        first.answered = 2
        first.concurrentStreamsMaximum = 7
        first.answers = [
            .init(status: 200, reason: nil, count: 1), .init(status: 410, reason: "Unregistered", count: 1),
        ]
        var second = SimulatorSummary()
        second.answered = 3
        second.concurrentStreamsMaximum = 5
        second.answers = [.init(status: 200, reason: nil, count: 3)]
        first.add(second)
        #expect(first.answered == 5)
        #expect(first.concurrentStreamsMaximum == 7)
        #expect(
            first.answers == [
                .init(status: 200, reason: nil, count: 4), .init(status: 410, reason: "Unregistered", count: 1),
            ])
    }
}
