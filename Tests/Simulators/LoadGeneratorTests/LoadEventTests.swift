import ChangeEvents
import Messages
import Notifications
import PushTestKit
import Testing

@testable import LoadGenerator

@Suite("The events of a load and their marks")
struct LoadEventTests {
    private static let pool = "us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c"
    private static let names = LoadNames(startedAtSeconds: 1_700_000_000, random: 0xBEEF)

    private func plan(_ profile: LoadPlan.Profile, hasDatasets: Bool = true) -> LoadPlan {
        LoadPlan(profile: profile, deviceCount: 10, audience: 4, hasDatasets: hasDatasets, seed: 3)
    }

    private func writer(_ plan: LoadPlan, bodyBytes: Int = 0) -> LoadEventWriter {
        LoadEventWriter(
            plan: plan, names: Self.names, app: "chat", pool: Self.pool, addressing: .users, bodyBytes: bodyBytes)
    }

    private func decoded(_ event: LoadEventWriter.Written) throws -> ChangeEvent {
        var message = Message(body: event.body)
        message.properties.contentType = "application/cloudevents+json"
        return try EventDecoder().decode(message)
    }

    @Test("A worker understands each event, padded or not", arguments: LoadPlan.Profile.allCases)
    func eventsDecode(profile: LoadPlan.Profile) throws {
        let plan = plan(profile)
        for number in 0..<200 {
            for bytes in [0, 900] {
                let written = writer(plan, bodyBytes: bytes).event(number, atMilliseconds: 1_700_000_000_123)
                let event = try decoded(written)
                #expect(event.identifier == written.identifier)
                #expect(bytes == 0 || written.body.count == bytes)
                switch (event.kind, plan.event(number).kind) {
                case (.push, .push), (.push, .fanOut), (.record, .record): break
                case (.dataset(let change), .dataset):
                    #expect(change.syncCount == Self.names.syncCountBase + Int64(number))
                    #expect(change.key.identityID == LoadNames.identity(number % 10, pool: Self.pool))
                default: Issue.record("event \(number) is \(event.kind)")
                }
            }
        }
    }

    @Test("A mixed load has its shares, and requested pushes in place of datasets where there is no pool")
    func mixture() {
        var counts: [LoadPlan.Kind: Int] = [:]
        for number in 0..<20_000 { counts[plan(.mixed).event(number).kind, default: 0] += 1 }
        let shares: [(LoadPlan.Kind, Double)] = [(.push, 0.6), (.dataset, 0.2), (.record, 0.19), (.fanOut, 0.01)]
        for (kind, share) in shares {
            #expect(abs(Double(counts[kind] ?? 0) / 20_000 - share) < 0.01, "\(kind)")
        }
        let without = plan(.mixed, hasDatasets: false)
        #expect(!without.has(.dataset) && (0..<2_000).allSatisfy { without.event($0).kind != .dataset })
        #expect(plan(.fanOut).event(5) == .init(kind: .fanOut, device: 0, pushes: 4))
    }

    @Test("A later run has other marks and larger sync counts")
    func runsDiffer() {
        let later = LoadNames(startedAtSeconds: 1_700_000_010, random: 0xBEEF)
        #expect(later.mark != Self.names.mark && later.syncCountBase > Self.names.syncCountBase + 10_000_000)
        #expect(LoadNames(startedAtSeconds: 1_700_000_000, random: 1).mark != Self.names.mark)
        #expect(LoadNames.token(7).utf8.count == 64)
    }

    // MARK: The record

    private func line(_ payload: String, time: Int = 5, status: Int = 200, isDuplicate: Bool = false) -> String {
        #"{"time_ms":0,"time_us":\#(time),"token":"ab","apns_id":"x","status":\#(status),"reason":null,"#
            + #""duplicate":\#(isDuplicate),"payload":\#(payload)}"# + "\n"
    }

    @Test("Pushes of this run are found in the record however its bytes are cut", arguments: 1...30)
    func recordInPieces(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var text = ""
        var expected: [RecordedMark] = []
        for time in 0..<60 {
            let event = Int.random(in: 0..<150, using: &random)
            let status = Bool.random(using: &random) ? 200 : 429
            let isRepeated = Bool.random(using: &random)
            let payloads = [
                #"{"aps":{},"load":"\#(Self.names.mark)\#(event)"}"#,
                #"{"aps":{},"data":{"syncCount":"\#(Self.names.syncCountBase + Int64(event))"}}"#,
                #"{"aps":{},"load":"apus-load-00000000-1"}"#, #"{"data":{"syncCount":"7"}}"#, "null",
            ]
            let kind = Int.random(in: 0..<payloads.count, using: &random)
            text += line(payloads[kind], time: time, status: status, isDuplicate: isRepeated)
            if kind < 2, event < 100 {
                expected.append(
                    RecordedMark(
                        event: event, timeMicroseconds: Int64(time), isAccepted: status == 200, isRepeated: isRepeated)
                )
            }
        }
        var reader = RecordReader(names: Self.names, eventsMaximum: 100)
        var found: [RecordedMark] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = Int.random(in: 1...300, using: &random)
            found += reader.take(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        #expect(found == expected)
        #expect(reader.foreignCount == 60 - expected.count)
    }

    @Test("A line that never ends is passed over, and the next one is read")
    func endlessLine() {
        var reader = RecordReader(names: Self.names, eventsMaximum: 100)
        for _ in 0..<40 { #expect(reader.take([UInt8](repeating: 0x78, count: 4_096)).isEmpty) }
        let next = Array(("\n" + line(#"{"load":"\#(Self.names.mark)3"}"#)).utf8)
        #expect(reader.take(next).map(\.event) == [3])
    }
}
