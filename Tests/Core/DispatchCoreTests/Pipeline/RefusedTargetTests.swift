import Backoffice
import ChangeEvents
import Messages
import Notifications
import RegistryCore
import Testing

@testable import DispatchCore

@Suite("Events of whose targets some are wrong")
struct RefusedTargetTests {
    private var world = MachineWorld(app: Samples.app(hearing: OutcomeSelection(OutcomeKind.allCases)))

    private static let list = #""aa01","(null)","aa02",null,"aa01""#

    private static func event(_ list: String = list) -> String {
        #"{"specversion":"1.0","id":"1","source":"test","type":"push.requested","data":{"app":"chat","#
            + #""deviceTokens":[\#(list)],"notification":{"body":"hello"}}}"#
    }

    private var letters: [OutgoingMessage] { world.publishes.filter { $0.routingKey == "apus.dead-letter" } }

    /// The registry knows none of the tokens, so each is pushed to as it is.
    private mutating func answerWithTokens() {
        let audiences = world.questions.map { question -> AudienceResult in
            guard case .push(let push) = question.event.event.kind, case .tokens(let tokens, let app) = push.audience
            else { return .later }
            let names = question.event.retryState.deviceIDs
            let devices = tokens.map { Recipient(unregistered: $0, app: app) }
                .filter { names?.contains($0.deviceID) ?? true }
            return .devices(AddressedPage(AudiencePage(devices: devices, next: nil)))
        }
        world.answer(.success(.resolved(audiences)))
    }

    private mutating func confirm(_ messages: [OutgoingMessage]) {
        world.machine.publishesEnded(messages.map { ($0.identifier, .confirmed) }, at: world.now)
        world.tick()
    }

    /// Hands a dead letter out again, as a replay publishes it.
    private mutating func replay(_ letter: OutgoingMessage, number: UInt64) -> DeliveryTag {
        let tag = DeliveryTag(epoch: 1, number: number)
        world.machine.deliveriesReceived(
            [
                Delivery(
                    tag: tag, deliveryClass: .interactive, isRedelivered: false, exchange: "",
                    routingKey: "apus.work", message: letter.message.replayed(publishedTo: ""))
            ], at: world.now)
        world.tick()
        answerWithTokens()
        return tag
    }

    @Test("The right entries are pushed to, and one dead letter names the wrong ones before the delivery is settled")
    mutating func entries() throws {
        let tags = world.deliver([Self.event()])
        answerWithTokens()
        #expect(world.sends.map(\.token.hexadecimal) == ["aa01", "aa02"])
        #expect(letters.isEmpty)
        world.accept()
        #expect(letters.count == 1 && world.settles.isEmpty)
        let message = letters[0].message
        #expect(message.header(RetryHeader.reason) == .string("invalid-field"))
        #expect(message.header(RetryHeader.app) == .string("chat"))
        #expect(
            message.header(RetryHeader.devices)
                == .array([.string("deviceTokens[1]"), .string("deviceTokens[3]")]))
        guard case .string(let detail) = message.header(RetryHeader.detail) else {
            Issue.record("the dead letter says nothing")
            return
        }
        #expect(detail.hasPrefix("data.deviceTokens[1] is ") && detail.hasSuffix("; 1 further entries are wrong, too"))
        #expect(!detail.contains("null"), "no entry is repeated: \(detail)")
        confirm(world.publishes.filter { $0.isOptional })
        #expect(world.settles.isEmpty, "the dead letter is not confirmed")
        confirm(letters)
        #expect(world.settles == tags)
        let ledger = world.machine.dispatch.pushCounts[0]
        #expect(ledger.isBalanced && ledger.matched == 2 && ledger.accepted == 2 && ledger.inFlight == 0)
    }

    @Test("The backend is told of each wrong entry by its place")
    mutating func outcomes() throws {
        world.deliver([Self.event()])
        answerWithTokens()
        world.accept()
        let reports = try world.publishes.filter(\.isOptional).map { try OutcomeReport($0.message) }
        let failed = try #require(reports.first { $0.kind == .deadLettered })
        #expect(failed.pushes.map(\.deviceID) == ["deviceTokens[1]", "deviceTokens[3]"])
        #expect(failed.pushes.allSatisfy { $0.reason == "invalid-field" })
        #expect(reports.contains { $0.kind == .accepted && $0.pushes.count == 2 })
    }

    @Test("A replay of the dead letter concerns the wrong entries alone, and a retry of another device does not")
    mutating func replays() {
        world.deliver([Self.event()])
        answerWithTokens()
        world.answerSends(PushAnswer(status: 429, reason: "TooManyRequests"))
        let retry = world.publishes.first { $0.routingKey == "apus.retry.1s" }
        let first = letters
        #expect(first.count == 1 && retry != nil)
        confirm(world.publishes)
        let replayed = replay(first[0], number: 900)
        #expect(world.sends.isEmpty && letters.count == 2)
        #expect(letters[1].message.header(RetryHeader.devices) == first[0].message.header(RetryHeader.devices))
        confirm(Array(letters.suffix(1)))
        confirm(world.publishes.filter(\.isOptional))
        #expect(world.settles.contains(replayed))
        guard let retry else { return }
        _ = replay(retry, number: 901)
        #expect(world.sends.map(\.token.hexadecimal) == ["aa01", "aa02"])
        world.accept()
        #expect(letters.count == 2, "the wrong entries are dealt with already")
        #expect(world.machine.dispatch.pushCounts[0].isBalanced)
    }

    @Test("An event without a right entry is a dead letter as a whole, and the registry is not asked")
    mutating func allWrong() {
        world.deliver([Self.event(#""zz",7"#)])
        #expect(world.questions.isEmpty && letters.count == 1)
        #expect(letters[0].message.header(RetryHeader.devices) == nil)
    }

    @Test("A list with a wrong entry is served page by page, and the further pages have no dead letter of it")
    mutating func pages() {
        world.deliver([Self.event()])
        #expect(world.questions.allSatisfy { !$0.mayBePlanned })
        let devices = [Recipient(unregistered: Self.token, app: "chat")]
        let page = AudiencePage(devices: devices, next: AudienceCursor(position: 1))
        world.answer(.success(.resolved([.devices(AddressedPage(page))])))
        world.accept()
        #expect(letters.count == 1)
        let continuation = world.publishes.first { $0.routingKey == "apus.fanout" }
        #expect(continuation?.message.header(RetryHeader.devices) == nil)
        #expect(continuation?.message.header(RetryHeader.cursor) == .int64(1))
    }

    private static let token: DeviceToken = {
        guard let token = DeviceToken(hexadecimal: "aa01") else { preconditionFailure("these are digits") }
        return token
    }()
}
