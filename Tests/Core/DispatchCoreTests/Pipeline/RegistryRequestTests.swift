import ChangeEvents
import Notifications
import Predicates
import RegistryCore
import Testing

@testable import DispatchCore

@Suite("Which client of the registry answers a request")
struct RegistryRequestTests {
    private static let change = RecordChange(
        operation: .created, recordType: "Song", recordName: "r", fields: RecordFields())

    private static func resolving(_ kinds: [ChangeEvent.Kind], _ change: (inout RetryState) -> Void = { _ in }) -> Bool
    {
        let questions = kinds.map { kind in
            let delivery = Samples.delivery(number: 1)
            var retryState = RetryState(of: delivery, nowMilliseconds: 0)
            change(&retryState)
            return AudienceQuestion(
                event: DecodedEvent(
                    delivery: delivery, retryState: retryState,
                    event: ChangeEvent(identifier: "1", source: "test", time: nil, kind: kind), renderings: []),
                excludedDeviceID: nil, cursor: nil, mayBePlanned: true)
        }
        return RegistryRequest.resolve(questions, devicesPerPage: 1).needsSubscriptions
    }

    @Test(
        "A batch with a record that is compared with subscriptions needs their index, retries and chunks of one do not")
    func batches() {
        let other = Samples.event(Samples.delivery(number: 1)).event.kind
        #expect(Self.resolving([other, .record(Self.change)]))
        #expect(!Self.resolving([other]))
        #expect(!Self.resolving([.record(Self.change)]) { $0.deviceIDs = ["d"] })
        let chunk = FanOutChunk(number: 1, after: nil, through: nil, subscriptions: [1], deviceCount: 1)
        #expect(!Self.resolving([.record(Self.change)]) { $0.chunk = FanOutChunkJob(fanOut: 1, chunk: chunk) })
    }

    @Test("The first chunk of a record's plan needs the index, the further ones do not")
    func chunks() {
        func search(_ audience: FanOutAudience) -> Bool {
            RegistryRequest.findChunk(
                FanOutChunkSearch(
                    fanOut: 1, event: EventDigest(source: "test", identifier: "1"), audience: audience,
                    newestSubscription: 1, excludedDeviceID: nil, after: nil, limit: 1)
            ).needsSubscriptions
        }
        #expect(search(.record(Self.change, mayHaveClaims: false)))
        #expect(!search(.subscriptions([1])))
        #expect(!search(.devices(.topic("all", app: "chat"))))
    }
}
