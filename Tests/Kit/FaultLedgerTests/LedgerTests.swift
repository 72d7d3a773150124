import Notifications
import PushTestKit
import Testing

@testable import FaultLedger

@Suite("The ledger of the fault program")
struct LedgerTests {
    private let population = Population(identityCount: 20, seed: 1)

    private func change(_ number: Int, identity: Int, syncCount: Int) -> LedgerEvent {
        LedgerEvent(number: number, content: .change(identity: identity, syncCount: syncCount))
    }

    private func request(_ number: Int, _ devices: [Int]) -> LedgerEvent {
        LedgerEvent(number: number, content: .request(devices: devices))
    }

    private func push(_ device: Int, _ content: AcceptedPush.Content, at milliseconds: Int64 = 0) -> AcceptedPush {
        AcceptedPush(token: population.token(of: device), content: content, timeMilliseconds: milliseconds)
    }

    /// The accepted pushes of an event, one for each device of its audience.
    private func pushes(_ event: LedgerEvent, at milliseconds: Int64 = 0) -> [AcceptedPush] {
        population.audience(of: event).map { device in
            switch event.content {
            case .change(let identity, let syncCount):
                let content = AcceptedPush.Content.change(
                    identity: Population.identityText(identity), syncCount: syncCount)
                return push(device, content, at: milliseconds)
            default: return push(device, .request(number: event.number), at: milliseconds)
            }
        }
    }

    @Test("Only confirmed events count as lost")
    func unconfirmedIsNotLost() {
        var ledger = Ledger(population: population)
        ledger.attempted(request(0, [5]))
        #expect(ledger.counts().attempted == 1 && ledger.counts().lost == 0)
        ledger.confirmed(0, atMilliseconds: 1)
        #expect(ledger.counts().lost == 1 && ledger.missing == [0])
    }

    @Test("An event is delivered when each device of its audience has accepted it")
    func everyDeviceCounts() {
        var ledger = Ledger(population: population)
        let event = request(0, [4, 5, 7])
        ledger.attempted(event)
        ledger.confirmed(0, atMilliseconds: 1)
        for push in pushes(event).dropLast() { ledger.accepted(push) }
        #expect(ledger.counts().lost == 1)
        ledger.accepted(pushes(event).last ?? push(4, .other))
        #expect(ledger.counts().lost == 0 && ledger.counts().delivered == 1 && ledger.counts().pushes == 3)
    }

    @Test("An accepted push is untold until the backend was told of its end, and telling of it again is counted")
    func toldPushes() {
        var ledger = Ledger(population: population)
        let (asked, changed) = (request(0, [4, 5]), change(1, identity: 3, syncCount: 1))
        for event in [asked, changed] {
            ledger.attempted(event)
            ledger.confirmed(event.number, atMilliseconds: 1)
            for push in pushes(event) { ledger.accepted(push) }
        }
        let readers = population.audience(of: changed)
        #expect(ledger.counts().untold == 2 + readers.count)
        for (event, devices) in [(asked, [4, 5]), (changed, readers)] {
            for device in devices {
                ledger.told(
                    deviceNamed: Population.deviceText(device), ofEvent: event.identifier, kind: .accepted)
            }
        }
        #expect(ledger.counts().untold == 0 && ledger.counts().toldAgain == 0)
        ledger.told(deviceNamed: Population.deviceText(4), ofEvent: asked.identifier, kind: .accepted)
        #expect(ledger.counts().toldAgain == 1)
    }

    @Test("An alert that comes again is shown twice unless it takes the place of the first")
    func alertsAreReplaced() {
        var ledger = Ledger(population: population)
        for number in 0..<3 { ledger.attempted(request(number, [4])) }
        func accept(_ number: Int, isAlert: Bool = true, as identifier: String?) {
            var push = push(4, .request(number: number))
            (push.isAlert, push.replacementID) = (isAlert, identifier)
            ledger.accepted(push)
        }
        for identifier in ["a", "a", "a"] { accept(0, as: identifier) }
        for _ in 0..<2 { accept(1, isAlert: false, as: nil) }
        #expect(ledger.counts().duplicated == 3 && ledger.counts().shownTwice == 0)
        for identifier in [nil, nil, "b", "c"] { accept(2, as: identifier) }
        #expect(ledger.counts().duplicated == 6 && ledger.counts().shownTwice == 3)
    }

    @Test("A change is delivered by a push with a newer sync count, and not by one with an older")
    func newerSyncCountCovers() {
        var ledger = Ledger(population: population)
        for number in 0..<3 {
            ledger.attempted(change(number, identity: 3, syncCount: number + 1))
            ledger.confirmed(number, atMilliseconds: 1)
        }
        for push in pushes(change(1, identity: 3, syncCount: 2)) { ledger.accepted(push) }
        #expect(ledger.missing == [2])
        #expect(ledger.counts().delivered == 2)
    }

    @Test(
        "A push to the maker of a change, to a device that did not ask, or of no event at all is unexpected"
    )
    func strangersAreUnexpected() {
        var ledger = Ledger(population: population)
        ledger.attempted(change(0, identity: 0, syncCount: 1))
        ledger.attempted(request(1, [4]))
        let content = AcceptedPush.Content.change(identity: Population.identityText(0), syncCount: 1)
        ledger.accepted(push(0, content))
        ledger.accepted(push(3, content))
        ledger.accepted(push(5, content))
        ledger.accepted(
            push(2, .change(identity: Population.identityText(0), syncCount: 2)))
        ledger.accepted(push(5, .request(number: 1)))
        ledger.accepted(push(4, .request(number: 2)))
        ledger.accepted(push(4, .other))
        ledger.accepted(AcceptedPush(token: "ab", content: content, timeMilliseconds: 0))
        #expect(ledger.counts().unexpected == 8)
        ledger.accepted(push(2, content))
        #expect(ledger.counts().unexpected == 8)
    }

    @Test("The second push of the same content to a device is a duplicate, in whatever order they are recorded")
    func countsDuplicates() {
        var ledger = Ledger(population: population)
        let event = request(0, [4, 5])
        ledger.attempted(event)
        ledger.confirmed(0, atMilliseconds: 10)
        for push in pushes(event, at: 70) + pushes(event, at: 50) { ledger.accepted(push) }
        #expect(ledger.counts().duplicated == 2)
        #expect(ledger.settledMilliseconds(ofEventsConfirmedBy: 20) == 50)
    }

    @Test("What is queued, dead or destroyed is not lost, and is counted only while a push is missing")
    func accountsForWhatStands() {
        var ledger = Ledger(population: population)
        for number in 0..<4 {
            ledger.attempted(request(number, [4]))
            ledger.confirmed(number, atMilliseconds: 1)
        }
        ledger.isQueued("e0")
        ledger.isDeadLettered("e1")
        ledger.mayBeDestroyed(1, confirmedByMilliseconds: 1)
        var counts = ledger.counts()
        #expect(counts.queued == 1 && counts.deadLettered == 1 && counts.destroyed == 1 && counts.lost == 1)
        #expect(counts.soundDeadLettered == 1)
        for number in 0..<4 { ledger.accepted(push(4, .request(number: number))) }
        counts = ledger.counts()
        #expect(counts.delivered == 4 && counts.queued + counts.deadLettered + counts.destroyed + counts.lost == 0)
    }

    @Test(
        "A change that was coalesced into a dead letter is none that is lost, if each device that misses it was named")
    func coalescedIntoDeadLetter() throws {
        var ledger = Ledger(population: population)
        let (older, newer) = (change(0, identity: 3, syncCount: 1), change(1, identity: 3, syncCount: 2))
        for event in [older, newer] {
            ledger.attempted(event)
            ledger.confirmed(event.number, atMilliseconds: 1)
        }
        // The newer push reaches all readers but one.
        let readers = population.audience(of: older)
        try #require(readers.count > 1)
        for push in pushes(newer).dropFirst() { ledger.accepted(push) }
        ledger.isDeadLettered(newer.identifier)
        #expect(ledger.counts().lost == 1 && ledger.counts().deadLettered == 1)
        var other = ledger
        other.told(deviceNamed: Population.deviceText(readers[1]), ofEvent: older.identifier, kind: .coalesced)
        #expect(other.counts().lost == 1)
        ledger.told(deviceNamed: Population.deviceText(readers[0]), ofEvent: older.identifier, kind: .coalesced)
        #expect(ledger.counts().lost == 0 && ledger.counts().deadLettered == 2)
        // Said by an event that is no dead letter, it is lost.
        var without = Ledger(population: population)
        for event in [older, newer] {
            without.attempted(event)
            without.confirmed(event.number, atMilliseconds: 1)
            for reader in readers {
                without.told(deviceNamed: Population.deviceText(reader), ofEvent: event.identifier, kind: .coalesced)
            }
        }
        #expect(without.counts().lost == 2)
    }

    @Test("Devices that are gone are not waited for")
    func goneDevicesAreNotExpected() {
        let gone = (0..<population.memberCount).filter { population.role(of: $0) == .gone }
        #expect(!gone.isEmpty)
        var ledger = Ledger(population: population)
        ledger.attempted(request(0, [gone[0]]))
        ledger.confirmed(0, atMilliseconds: 1)
        #expect(ledger.missing.isEmpty)
    }

    @Test("A device that was removed need not be told, and is counted unless it was gone from the start")
    func removedDevicesAreNotExpected() {
        var ledger = Ledger(population: population)
        for number in 0..<2 {
            ledger.attempted(request(number, [4, 5]))
            ledger.confirmed(number, atMilliseconds: 1)
        }
        ledger.accepted(push(4, .request(number: 0)))
        #expect(ledger.missing == [0, 1])
        ledger.isRemoved(5)
        #expect(ledger.missing == [1] && ledger.counts().removed == 1)
    }

    @Test("An announcement goes to the crowd only, a record to the devices of the user with the room")
    func audiencesOfTheOtherKinds() {
        let population = Population(identityCount: 20, crowdCount: 7, seed: 1)
        let announcement = LedgerEvent(number: 0, content: .announcement)
        #expect(population.audience(of: announcement) == Array(80..<87))
        #expect(population.isAddressed(80, by: announcement) && !population.isAddressed(79, by: announcement))
        let record = LedgerEvent(number: 1, content: .record(room: 2))
        #expect(population.audience(of: record) == [8, 9, 10].filter { population.role(of: $0) != .gone })
        let lines = population.importLines { $0.name }
        #expect(lines.split(separator: "\n").count == 87)
    }

    @Test("What is missing can be asked for some devices, and for what was confirmed by some time")
    func missingOfSomeDevices() {
        let population = Population(identityCount: 20, services: [.apns, .fcm], seed: 1)
        var ledger = Ledger(population: population)
        for number in 0..<3 {
            ledger.attempted(request(number, [4, 5]))
            ledger.confirmed(number, atMilliseconds: Int64(number))
        }
        ledger.attempted(LedgerEvent(number: 3, content: .broken))
        ledger.confirmed(3, atMilliseconds: 0)
        ledger.accepted(
            AcceptedPush(token: population.token(of: 4), content: .request(number: 0), timeMilliseconds: 5))
        func missing(_ service: ServiceKind) -> [Int] {
            ledger.missing(confirmedByMilliseconds: 1) { population.service(of: $0) == service }
        }
        #expect(missing(.apns) == [1] && missing(.fcm) == [0, 1])
    }

    @Test("A broken event is lost unless it is a dead letter")
    func brokenEventsAreDeadLetters() {
        var ledger = Ledger(population: population)
        ledger.attempted(LedgerEvent(number: 0, content: .broken))
        ledger.confirmed(0, atMilliseconds: 1)
        #expect(ledger.counts().lost == 1)
        ledger.isDeadLettered("e0")
        #expect(ledger.counts().lost == 0 && ledger.counts().deadLettered == 1)
    }
}

@Suite("When a device was told of a sync count")
struct SyncCountTimesTests {
    @Test("The answer is that of looking at every push")
    func agreesWithTheOracle() {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            var times = SyncCountTimes()
            var pushes: [(Int, Int64)] = []
            for _ in 0..<Int.random(in: 0...12, using: &generator) {
                let push = (Int.random(in: 1...8, using: &generator), Int64.random(in: 0...99, using: &generator))
                pushes.append(push)
                times.append(syncCount: push.0, atMilliseconds: push.1)
            }
            times.prepare()
            for syncCount in 0...9 {
                let expected = pushes.filter { $0.0 >= syncCount }.map(\.1).min()
                #expect(times.firstMilliseconds(reaching: syncCount) == expected, "seed \(seed)")
            }
        }
    }
}
