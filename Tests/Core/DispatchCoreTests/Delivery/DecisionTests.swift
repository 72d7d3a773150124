import ChangeEvents
import Essentials
import Messages
import Notifications
import PushTestKit
import RegistryCore
import Testing

@testable import DispatchCore

@Suite("Small decisions of the delivery")
struct DecisionTests {
    private func change(
        _ name: String, _ count: Int64?, by device: String? = nil, _ operation: DatasetChange.Operation = .changed
    ) -> DatasetChange {
        DatasetChange(
            operation: operation,
            key: DatasetKey(identityPoolID: "pool", identityID: "identity", datasetName: name), syncCount: count,
            deviceID: device)
    }

    @Test("Of the changes of one dataset the newest is pushed, and a device is left out only if it made all of them")
    func coalescing() {
        var coalescer = DatasetCoalescer()
        coalescer.add(change("a", 1, by: "x"), at: 0)
        coalescer.add(change("b", 9, by: "x"), at: 1)
        coalescer.add(change("a", 3, by: "x"), at: 2)
        coalescer.add(change("b", 8, by: "y"), at: 3)
        #expect(
            coalescer.result == [
                .init(representative: 2, superseded: [0], excludedDeviceID: "x"),
                .init(representative: 1, superseded: [3], excludedDeviceID: nil),
            ])
    }

    @Test("A deletion is pushed by itself and separates what is before it from what is after")
    func deletionSeparates() {
        var coalescer = DatasetCoalescer()
        coalescer.add(change("a", 50), at: 0)
        coalescer.add(change("a", nil, .deleted), at: 1)
        coalescer.add(change("a", 1), at: 2)
        #expect(coalescer.result.map(\.representative) == [0, 1, 2])
    }

    @Test("Coalescing agrees with a naive search, whatever the order", arguments: 0..<50 as Range<UInt64>)
    func coalescingOracle(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let changes = (0..<40).map { _ in
            change(
                ["a", "b", "c"][Int.random(in: 0..<3, using: &random)], Int64.random(in: 0..<10, using: &random),
                by: ["x", "y", nil][Int.random(in: 0..<3, using: &random)])
        }
        var coalescer = DatasetCoalescer()
        for (place, change) in changes.enumerated() { coalescer.add(change, at: place) }
        for group in coalescer.result {
            let key = changes[group.representative].key
            let places = changes.indices.filter { changes[$0].key == key }
            let origins = Set(places.map { changes[$0].deviceID })
            #expect(Set([group.representative] + group.superseded) == Set(places), "seed \(seed)")
            #expect(
                changes[group.representative].syncCount == places.compactMap { changes[$0].syncCount }.max(),
                "seed \(seed)")
            #expect(group.excludedDeviceID == (origins.count == 1 ? origins.first ?? nil : nil), "seed \(seed)")
        }
    }

    @Test("The apns-id is a version 8 UUID that depends on source, event and device alone")
    func identity() {
        let device = Samples.device("a").token
        let identifier = PushIdentity(source: "s", identifier: "1").apnsID(for: device)
        #expect(identifier == PushIdentity(source: "s", identifier: "1").apnsID(for: device))
        let text = Array(identifier.description.utf8)
        #expect(text[14] == UInt8(ascii: "8") && "89ab".utf8.contains(text[19]))
        #expect(identifier != PushIdentity(source: "s1", identifier: "").apnsID(for: device))
        #expect(identifier != PushIdentity(source: "s", identifier: "1").apnsID(for: Samples.device("b").token))
    }

    @Test("A hundred thousand pushes have as many identifiers")
    func identitySpreads() {
        var seen: Set<APNsIdentifier> = []
        for event in 0..<1_000 {
            let identity = PushIdentity(source: "source", identifier: "\(event)")
            for device in 0..<100 { seen.insert(identity.apnsID(for: Samples.device("\(device)").token)) }
        }
        #expect(seen.count == 100_000)
    }

    @Test("A requeued copy is read back as it was written, and requeuing it twice adds nothing")
    func parkingRoundTrip() {
        let brokers = [
            MessageHeader("x-death", .array([])),
            MessageHeader("x-delivery-count", .int64(3)),
        ]
        let delivery = Samples.delivery(headers: [MessageHeader("own", .void)] + brokers)
        var record = RetryState(of: delivery, nowMilliseconds: 7)
        record.attempt = 2
        record.expiresAt = WallTime(milliseconds: 99)
        record.deviceIDs = ["a", "b"]
        record.cursor = AudienceCursor(position: 4)
        record.notifiesOrigin = true
        let copy = record.requeuedCopy(of: delivery.message, reason: "r", detail: "d")
        #expect(copy.headers.map(\.name).filter { $0.hasPrefix("x-") }.isEmpty && copy.header("own") == .void)

        var again = delivery
        again.message = copy
        again.exchange = ""
        again.routingKey = "apus.work"
        var expected = record
        expected.isRequeuedCopy = true
        let read = RetryState(of: again, nowMilliseconds: 1_000)
        #expect(read == expected)
        #expect(read.requeuedCopy(of: copy, reason: "r", detail: "d") == copy)
    }
}
