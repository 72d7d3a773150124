import ChangeEvents
import Essentials
import Messages
import Notifications
import RegistryCore
import Testing

@testable import DispatchCore

@Suite("Events that are pushed once")
struct EventMemoryTests {
    private static let asks = [MessageHeader(Message.rememberHeader, .boolean(true))]
    private static let away = RegistryError(.unavailable, "away")

    /// A machine that remembers events, and has found that the registry can be written.
    private func world(answersProbe: Bool = true) -> MachineWorld {
        var limits = DispatchLimits()
        limits.eventMemoryMilliseconds = 60_000
        limits.batchesAskedMaximum = 3
        var world = MachineWorld(limits: limits)
        if answersProbe { world.answer(.success(.remembered(forgottenEarly: 0))) }
        return world
    }

    private func remembered(_ world: MachineWorld) -> [RememberedEvent]? {
        guard case .remember(let events)? = world.requests.first?.request else { return nil }
        return events
    }

    private func repeated(_ world: MachineWorld, content: Int64? = nil) -> AudienceResult {
        .repeated(
            world.questions[0].identities.map {
                RememberedEvent(
                    identity: $0, content: content ?? world.questions[0].event.delivery.message.contentDigest)
            })
    }

    private func confirmAll(_ world: inout MachineWorld) {
        world.machine.publishesEnded(world.publishes.map { ($0.identifier, .confirmed) }, at: world.now)
        world.tick()
    }

    @Test("A worker finds out at its start whether the registry can be written")
    func probe() {
        let world = world(answersProbe: false)
        #expect(remembered(world) == [])
    }

    @Test("A delivery is acknowledged when the registry remembers its event, which is when its pushes have ended")
    func remembering() {
        var world = world()
        let tags = world.deliver([MachineWorld.push("1"), MachineWorld.push("2")], headers: Self.asks)
        #expect(world.questions.map(\.identities.count) == [1, 1])
        world.answerWithDevices()
        #expect(world.requests.isEmpty)
        world.accept()
        let identities = ["1", "2"].map { EventIdentity(source: "test", identifier: $0, owner: "chat") }
        #expect(remembered(world)?.map(\.identity) == identities && world.settles.isEmpty)
        world.answer(.success(.remembered(forgottenEarly: 0)))
        #expect(world.settles == tags && world.fates == [.matched, .matched])
    }

    @Test("An event that the registry remembers is acknowledged without a push")
    func repetition() {
        var world = world()
        let tags = world.deliver([MachineWorld.push("1")], headers: Self.asks)
        world.answer(.success(.resolved([repeated(world)])))
        #expect(world.settles == tags && world.sends.isEmpty && world.fates == [.repeated] && world.notices.isEmpty)
        world.deliver([MachineWorld.push("1")], headers: Self.asks)
        world.answer(.success(.resolved([repeated(world, content: 1)])))
        guard case .repeatedDifferently(let event)? = world.notices.first else {
            Issue.record("\(world.notices)")
            return
        }
        #expect(event.event.identifier == "1" && world.settles.count == 2)
    }

    @Test("Copies of an event that is under way wait for its end, and are acknowledged with it")
    func copies() {
        var world = world()
        var tags = world.deliver([MachineWorld.push("1"), MachineWorld.push("1")], headers: Self.asks)
        #expect(world.questions.count == 1)
        world.answerWithDevices()
        tags += world.deliver([MachineWorld.push("1")], headers: Self.asks)
        #expect(world.requests.isEmpty && world.sends.count == 1)
        world.accept()
        tags += world.deliver([MachineWorld.push("1")], headers: Self.asks)
        #expect(world.requests.count == 1)
        world.answer(.success(.remembered(forgottenEarly: 0)))
        #expect(world.settles == tags && world.fates == [.matched, .repeated, .repeated, .repeated])
    }

    @Test("Events of another app, source or identifier, and those that do not ask for it, are others")
    func others() {
        var world = world()
        world.deliver([MachineWorld.push("1")], headers: Self.asks)
        world.answerWithDevices()
        world.deliver(
            [MachineWorld.push("1").replacing(#""app":"chat""#, with: #""app":"mail""#)], headers: Self.asks)
        world.deliver([MachineWorld.push("1").replacing("test", with: "tests")], headers: Self.asks)
        world.deliver([MachineWorld.push("1")])
        world.deliver([MachineWorld.push("1")], headers: [MessageHeader(Message.rememberHeader, .boolean(false))])
        world.deliver([MachineWorld.push("1")], headers: [MessageHeader(Message.rememberHeader, .string("true"))])
        var identities: [Int] = []
        while !world.questions.isEmpty {
            identities += world.questions.map(\.identities.count)
            world.answerWithDevices()
        }
        // The event of an app that is not configured became a dead letter.
        #expect(identities == [1, 0, 0, 0])
    }

    @Test("An event has ended when its copies are in a retry queue; the copies are never taken for repetitions")
    func requeued() {
        var world = world()
        let tags = world.deliver([MachineWorld.push("1")], headers: Self.asks)
        world.answerWithDevices()
        world.answerSends(PushAnswer(status: 429, reason: "TooManyRequests"))
        #expect(world.requests.isEmpty && world.publishes.count == 1)
        confirmAll(&world)
        #expect(remembered(world)?.count == 1)
        world.answer(.success(.remembered(forgottenEarly: 0)))
        #expect(world.settles == tags)
        let copy = world.publishes[0].message
        #expect(copy.headers.contains(Self.asks[0]))
        world.deliver([MachineWorld.push("1")], headers: copy.headers, exchange: "")
        #expect(world.questions.map(\.identities) == [[]])
        world.answerWithDevices()
        world.accept()
        #expect(world.settles.count == 2)
    }

    @Test("An event that becomes a dead letter is not remembered, and the copy that waited for it begins")
    func rejected() {
        var world = world()
        let tags = world.deliver([MachineWorld.push("1"), MachineWorld.push("1")], headers: Self.asks)
        var page = AddressedPage(AudiencePage(devices: [], next: nil))
        page.rejection = EventRejection(.invalidField, "no device")
        world.answer(.success(.resolved([.devices(page)])))
        #expect(world.questions.map(\.event.delivery.tag) == [tags[1]])
        confirmAll(&world)
        #expect(world.settles == [tags[0]] && world.requests.count == 1)
    }

    @Test("Events that the registry could not remember are acknowledged, too, and none is remembered for five seconds")
    func failure() {
        var world = world()
        let tags = world.deliver([MachineWorld.push("1"), MachineWorld.push("1")], headers: Self.asks)
        world.answerWithDevices()
        world.accept()
        world.answer(.failure(Self.away))
        #expect(world.settles == tags && world.notices.count == 1)
        world.deliver([MachineWorld.push("2")], headers: Self.asks)
        #expect(world.questions.map(\.identities.count) == [0])
        world.answerWithDevices()
        world.pass(milliseconds: 5_000)
        world.answerPauses([])
        world.deliver([MachineWorld.push("2")], headers: Self.asks)
        #expect(world.questions.map(\.identities.count) == [1])
    }

    @Test(
        "A registry that can only be read remembers nothing for a minute",
        arguments: [RegistryError.Code.readOnly, .olderSchema])
    func readOnly(_ code: RegistryError.Code) {
        var world = world(answersProbe: false)
        world.answer(.failure(RegistryError(code, "no")))
        guard case .notRemembered? = world.notices.first else {
            Issue.record("\(world.notices)")
            return
        }
        let tags = world.deliver([MachineWorld.push("1")], headers: Self.asks)
        #expect(world.questions.map(\.identities) == [[]])
        world.answerWithDevices()
        world.accept()
        #expect(world.settles == tags)
        world.pass(milliseconds: 60_000)
        world.answerPauses([])
        world.deliver([MachineWorld.push("2")], headers: Self.asks)
        #expect(world.questions.map(\.identities.count) == [1])
    }

    @Test("Of changes that one push stands for, those that come again are taken out")
    func coalesced() {
        var world = world()
        let tags = world.deliver(
            (1...3).map { MachineWorld.change("\($0)", count: $0) }, headers: Self.asks)
        #expect(world.questions.map(\.identities.count) == [3])
        let newest = RememberedEvent(identity: world.questions[0].event.identity, content: 0)
        world.answer(.success(.resolved([.repeated([newest])])))
        #expect(world.settles == [tags[2]])
        #expect(world.questions.map(\.event.delivery.tag) == [tags[1]] && world.questions[0].identities.count == 2)
        world.answerWithDevices()
        world.accept()
        #expect(remembered(world)?.count == 2)
        world.answer(.success(.remembered(forgottenEarly: 0)))
        #expect(Set(world.settles) == Set(tags))
    }

    @Test("An event that is delivered again while its pushes are out waits for them")
    func redelivered() {
        var world = world()
        let tags = world.deliver([MachineWorld.push("1")], headers: Self.asks)
        world.answerWithDevices()
        world.deliver([MachineWorld.push("1"), MachineWorld.push("2")], headers: Self.asks)
        world.machine.sourceStateChanged(.interrupted(reason: "reset"), at: world.now)
        world.machine.sourceStateChanged(.consuming(epoch: 2), at: world.now)
        world.tick()
        let again = world.deliver(
            [MachineWorld.push("1"), MachineWorld.push("2")], epoch: 2, isRedelivered: true, headers: Self.asks)
        // The batch with the second event was lost with its connection.
        world.answerLastWithDevices()
        #expect(world.sends.count == 2)
        world.accept()
        while remembered(world) == nil, !world.requests.isEmpty { world.answerWithDevices() }
        world.answer(.success(.remembered(forgottenEarly: 0)))
        #expect(Set(world.settles) == Set(tags + again))
    }

    @Test("A worker that drains waits until the registry has answered")
    func draining() {
        var world = world()
        world.deliver([MachineWorld.push("1")], headers: Self.asks)
        world.answerWithDevices()
        world.machine.drain(at: world.now)
        world.accept()
        #expect(!world.machine.isDrained && remembered(world)?.count == 1)
        world.answer(.success(.remembered(forgottenEarly: 0)))
        #expect(world.machine.isDrained)
    }

    @Test("Events that end within 20 ms of a request are remembered together, unless they are many")
    func pause() {
        var world = world()
        func push(_ numbers: ClosedRange<Int>) {
            world.deliver(numbers.map { MachineWorld.push("\($0)") }, headers: Self.asks)
            world.answerWithDevices()
            world.accept()
        }
        push(1...1)
        world.answer(.success(.remembered(forgottenEarly: 0)))
        push(2...2)
        #expect(world.requests.isEmpty)
        #expect(world.machine.nextTick == world.now.monotonic.advanced(byMilliseconds: 20))
        world.pass(milliseconds: 19)
        push(3...3)
        #expect(world.requests.isEmpty)
        world.pass(milliseconds: 1)
        #expect(remembered(world)?.count == 2)
        world.answer(.success(.remembered(forgottenEarly: 0)))
        push(4...203)
        #expect(remembered(world)?.count == 200)
    }

    @Test("Events that are forgotten before their time are told of")
    func forgottenEarly() {
        var world = world(answersProbe: false)
        world.answer(.success(.remembered(forgottenEarly: 5)))
        guard case .forgottenEarly(5)? = world.notices.last else {
            Issue.record("\(world.notices)")
            return
        }
    }

    @Test("Without a memory nothing is asked for, whatever a publisher wishes")
    func off() {
        var world = MachineWorld()
        let tags = world.deliver([MachineWorld.push("1"), MachineWorld.push("1")], headers: Self.asks)
        #expect(world.questions.map(\.identities) == [[], []])
        world.answerWithDevices()
        world.accept()
        #expect(world.settles == tags && world.requests.isEmpty)
    }
}
