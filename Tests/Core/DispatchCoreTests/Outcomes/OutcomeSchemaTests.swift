import Backoffice
import ChangeEvents
import JSON
import Messages
import Notifications
import PushTestKit
import RegistryCore
import Testing

@testable import DispatchCore

@Suite("The schema of outcomes")
struct OutcomeSchemaTests {
    private let parser = JSONParser()
    private let schemaBytes: [UInt8]

    init() throws { schemaBytes = try ExampleEvents.bytes("deploy/schemas/outcomes/outcome.json") }

    private func violations(_ body: [UInt8]) throws -> [String] {
        let schema = try JSONParser().parse(schemaBytes)
        return JSONSchema(document: schema).violations(try parser.parse(body), schema)
    }

    @Test("What a worker tells of pushes and of changes, accepted, refused and coalesced, follows it")
    func followed() throws {
        var world = MachineWorld(app: Samples.app(hearing: OutcomeSelection(OutcomeKind.allCases)))
        world.deliver([
            MachineWorld.push("p1"), MachineWorld.change("e1", count: 1), MachineWorld.change("e2", count: 2),
        ])
        world.answerWithDevices()
        world.accept()
        world.deliver([MachineWorld.push("p2")])
        world.answerWithDevices()
        world.answerSends(PushAnswer(status: 429, reason: "TooManyRequests"))
        let outcomes = world.publishes.filter(\.isOptional)
        #expect(outcomes.count == 4)
        for outcome in outcomes {
            #expect(try violations(outcome.message.body) == [], "\(Outcome(outcome).text)")
            _ = try OutcomeReport(outcome.message)
        }
    }

    @Test("Its lists are those of the program, and the example follows it and can be read")
    func lists() throws {
        let schema = try parser.parse(schemaBytes)
        func list(_ value: JSONValue?) -> [String]? { value?["enum"]?.array?.compactMap(\.string) }
        let members = schema["properties"]
        #expect(list(members?["outcome"]) == OutcomeKind.allCases.map(\.rawValue))
        let types = list(members?["event"]?["properties"]?["type"])
        #expect(types?.sorted() == EventType.allCases.map(\.rawValue).sorted())
        let platforms = list(members?["pushes"]?["items"]?["properties"]?["platform"])
        #expect(platforms?.sorted() == Platform.allCases.map(\.rawValue).sorted())
        let example = try ExampleEvents.bytes("deploy/examples/outcomes/token-dead.json")
        #expect(try violations(example) == [])
        let report = try OutcomeReport(Message(body: example))
        #expect(report.kind == .tokenDead && report.pushes.first?.reason == "Unregistered")
        let event = try parser.parse(example)["event"]
        let moments = [event?["publishedAtMs"], event?["firstSeenAtMs"]].compactMap { $0?.int64 }
        #expect(moments.count == 2 && moments == moments.sorted())
    }

    @Test(
        "A message that is no outcome is refused with what is wrong",
        arguments: [
            ("{", "the body is no JSON"), (#"{"outcome":"lost"}"#, "outcome is"),
            (#"{"outcome":"accepted"}"#, "app is missing"),
        ])
    func refused(body: String, complaint: String) {
        let fault = #expect(throws: OutcomeReport.Fault.self) { try OutcomeReport(Message(body: Array(body.utf8))) }
        #expect(fault?.description.hasPrefix(complaint) == true, "\(String(describing: fault))")
    }
}
