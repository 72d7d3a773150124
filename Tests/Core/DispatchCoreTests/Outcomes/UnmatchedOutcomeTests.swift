import Backoffice
import ChangeEvents
import Notifications
import RegistryCore
import Testing

@testable import DispatchCore

@Suite("What backends are told of targets without a device")
struct UnmatchedOutcomeTests {
    private var world = MachineWorld(app: Samples.app(hearing: OutcomeSelection(OutcomeKind.allCases)))

    private static func push(_ target: String) -> String {
        #"{"specversion":"1.0","id":"1","source":"/shop","type":"push.requested","data":{"app":"chat",\#(target),"#
            + #""notification":{"body":"hello"}}}"#
    }

    /// Finds some devices for the only event, each of a user.
    private mutating func find(_ users: [String?], next: AudienceCursor? = nil, leftOut: Int = 0) {
        var addressed = AddressedPage(
            AudiencePage(
                devices: users.map { user in
                    var device = Samples.device("phone of \(user ?? "nobody")")
                    device.registration = user.map { TokenRegistration(userID: $0, atMilliseconds: 1) }
                    return device
                }, next: next))
        addressed.leftOutCount = leftOut
        world.answer(.success(.resolved([.devices(addressed)])))
    }

    private func unmatched() throws -> [OutcomeReport] {
        try world.publishes.filter(\.isOptional).map { try OutcomeReport($0.message) }.filter { $0.kind == .unmatched }
    }

    @Test("Each user, identity or device of the target that has no device is told of by name, before the event ends")
    mutating func names() throws {
        let identity = "us-east-1:00000000-0000-4000-8000-000000000000"
        for (target, name) in [
            (#""userIds":["mei","nobody"]"#, "nobody"), (#""identityIds":["\#(identity)"]"#, identity),
            (#""deviceIds":["none"]"#, "none"),
        ] {
            world = MachineWorld(app: Samples.app(hearing: OutcomeSelection(OutcomeKind.allCases)))
            let tags = world.deliver([Self.push(target)])
            find(target.contains("mei") ? ["mei"] : [])
            world.accept()
            let report = try #require(try unmatched().first)
            #expect(report.pushes.map(\.deviceID) == [name] && report.pushes.map(\.reason) == ["no-device"])
            #expect(world.settles.isEmpty)
            world.machine.publishesEnded(world.publishes.map { ($0.identifier, .confirmed) }, at: world.now)
            world.tick()
            #expect(world.settles == tags)
        }
    }

    @Test("A topic without subscribers is told of, a dataset without other devices is not")
    mutating func topics() throws {
        world.deliver([Self.push(#""topic":"news""#)])
        find([])
        #expect(try unmatched().first?.pushes.map(\.deviceID) == ["news"])
        world = MachineWorld(app: Samples.app(hearing: OutcomeSelection(OutcomeKind.allCases)))
        world.deliver([MachineWorld.change("1", count: 1)])
        find([])
        #expect(world.publishes.isEmpty && world.settles.count == 1)
    }

    @Test("Nothing is told of an audience that is not known whole, or to a backend that does not ask for it")
    mutating func unknown() throws {
        let event = Self.push(#""userIds":["mei","nobody"]"#)
        let page = AudienceCursor(position: 1)
        for (users, next, leftOut) in [(["mei"], page, 0), (["mei"], nil, 1), ([nil], nil, 0)]
            as [([String?], AudienceCursor?, Int)]
        {
            world = MachineWorld(app: Samples.app(hearing: OutcomeSelection(OutcomeKind.allCases)))
            world.deliver([event])
            find(users, next: next, leftOut: leftOut)
            world.accept()
            #expect(try unmatched().isEmpty)
        }
        world = MachineWorld(app: Samples.app(hearing: .accepted))
        world.deliver([event])
        find([])
        #expect(world.publishes.isEmpty && world.settles.count == 1)
    }
}
