import ChangeEvents
import Notifications
import Testing
import Tracing

@testable import DispatchCore

@Suite("The spans of a pipeline")
struct PipelineSpanTests {
    private static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    private func world(_ sampler: Sampler) -> MachineWorld {
        var world = MachineWorld(app: Samples.app(hearing: .accepted))
        world.machine.spans = DeliverySpans(sampler: sampler, seed: 1)
        return world
    }

    private func traced(_ event: String, _ traceParent: String = parent) -> String {
        event.replacing(#""specversion":"1.0""#, with: #""specversion":"1.0","traceparent":"\#(traceParent)""#)
    }

    private func confirmAll(_ world: inout MachineWorld) {
        world.machine.publishesEnded(world.publishes.map { ($0.identifier, .confirmed) }, at: world.now)
        world.tick()
    }

    @Test("A push is a part of its delivery, which is a part of the publisher's span; the outcome goes on with it")
    func whole() throws {
        var world = world(Sampler(.alwaysOn, isParentBased: false))
        world.deliver([traced(MachineWorld.push("p1"))])
        world.answerWithDevices()
        world.accept()
        let outcome = try #require(world.publishes.first)
        confirmAll(&world)
        let spans = world.machine.takeSpans()
        #expect(spans.map(\.name) == ["push apns", "process apus.changes"])
        let (push, process) = (try #require(spans.first), try #require(spans.last))
        #expect(push.parent == process.context.spanID && process.parent?.description == "00f067aa0ba902b7")
        #expect(spans.allSatisfy { $0.context.traceID.description == "4bf92f3577b34da6a3ce929d0e0e4736" })
        #expect(Outcome(outcome).attribute("traceparent") == process.context.traceParent)
        #expect(world.machine.takeSpans().isEmpty && world.machine.spans?.openCount == 0)
    }

    @Test("An event that is not sampled has no span, and its outcome hands on what the publisher sent")
    func unsampled() throws {
        var world = world(Sampler(.alwaysOn, isParentBased: true))
        let unsampled = String(Self.parent.dropLast()) + "0"
        world.deliver([traced(MachineWorld.push("p1"), unsampled)])
        world.answerWithDevices()
        world.accept()
        #expect(Outcome(try #require(world.publishes.first)).attribute("traceparent") == unsampled)
        confirmAll(&world)
        #expect(world.machine.takeSpans().isEmpty)
    }

    @Test("A copy in a retry queue, a coalesced change and a rejected event have their spans")
    func copies() throws {
        var world = world(Sampler(.alwaysOn, isParentBased: false))
        world.deliver([traced(MachineWorld.push("p1"))])
        world.answerWithDevices()
        world.answerSends(PushAnswer(status: 429, reason: "TooManyRequests"))
        confirmAll(&world)
        #expect(
            world.machine.takeSpans().map(\.name) == ["push apns", "publish apus.retry.1s", "process apus.changes"])
        world.deliver([
            traced(MachineWorld.change("e1", count: 1)), traced(MachineWorld.change("e2", count: 2)),
        ])
        world.answerWithDevices()
        world.accept()
        confirmAll(&world)
        let coalesced = world.machine.takeSpans()
        #expect(coalesced.map(\.name) == ["process apus.changes", "push apns", "process apus.changes"])
        #expect(coalesced.last?.links.count == 1)
        world.deliver([traced(#"{"specversion":"1.0","id":"x","source":"s","type":"unknown.type","data":{}}"#)])
        confirmAll(&world)
        let rejected = world.machine.takeSpans()
        #expect(rejected.map(\.name) == ["process apus.changes"])
        #expect(rejected.first?.status == .error("unknown-type"))
    }
}
