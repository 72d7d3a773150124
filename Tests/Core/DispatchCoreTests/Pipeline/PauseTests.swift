import Backoffice
import ChangeEvents
import Essentials
import Notifications
import RegistryCore
import Testing

@testable import DispatchCore

@Suite("Pauses")
struct PauseTests {
    private static func pause(_ app: String?, _ reason: String = "a bad release") -> AppPause {
        AppPause(app: app, reason: reason, user: "mei", atMilliseconds: 1)
    }

    /// Lets the machine read the pauses again.
    private func read(_ result: Result<RegistryAnswer, RegistryError>, _ world: inout MachineWorld) {
        world.pass(milliseconds: Int64(PipelineMachine.pausesIntervalMilliseconds))
        world.answer(result)
    }

    private func stops(_ world: MachineWorld) -> [ConsumptionStop?] {
        world.notices.compactMap { notice in
            if case .consumption(let stop) = notice { .some(stop) } else { nil }
        }
    }

    @Test("Nothing is read or consumed before the pauses are known, however often the registry fails")
    func readsFirst() {
        var world = MachineWorld(answersPauses: false)
        for _ in 0..<3 {
            #expect(world.requests.map(\.isForPauses) == [true])
            #expect(!world.machine.hasReadSubscriptions)
            world.answer(.failure(RegistryError(.unavailable, "away")))
            world.pass(milliseconds: Int64(PipelineMachine.pausesIntervalMilliseconds))
        }
        world.answer(.success(.pausesRead([])))
        #expect(world.requests.map(\.isForPauses) == [false], "the subscriptions are asked for")
    }

    @Test("A push of a paused app waits in a retry queue and spends no attempt, until it is resumed")
    func waits() throws {
        var world = MachineWorld()
        read(.success(.pausesRead([Self.pause("chat")])), &world)
        #expect(stops(world) == [.paused], "it is the only app")
        world.deliver([MachineWorld.push("a")])
        world.answerWithDevices()
        #expect(world.sends.isEmpty)
        let copy = try #require(world.publishes.first)
        #expect(world.publishes.count == 1 && copy.routingKey == "apus.retry.1s")
        let retryState = RetryState(of: copy.message)
        #expect(retryState.attempt == 0 && retryState.deferredMilliseconds == 1_000)

        read(.success(.pausesRead([])), &world)
        #expect(stops(world) == [.paused, nil])
        world.deliver([MachineWorld.push("b")])
        world.answerWithDevices()
        #expect(world.sends.count == 1)
    }

    @Test("What is sent is answered during a pause; what was certainly not processed waits")
    func answersDuringPause() {
        var world = MachineWorld()
        world.deliver([MachineWorld.push("a"), MachineWorld.push("b")])
        world.answerWithDevices()
        #expect(world.sends.count == 2)
        read(.success(.pausesRead([Self.pause(nil)])), &world)
        let results = zip(world.sends, [AttemptOutcome.answered(PushAnswer(status: 200)), .notProcessed("refused")])
            .map { AttemptResult(identifier: $0.identifier, outcome: $1, durationNanoseconds: 1_000) }
        world.machine.pushesEnded(results, at: world.now)
        world.tick()
        #expect(world.sends.count == 2, "nothing was sent again")
        #expect(world.settles.count == 1 && world.publishes.count == 1)
    }

    @Test("A registry that does not answer changes no pause")
    func keeps() {
        var world = MachineWorld()
        read(.success(.pausesRead([Self.pause(nil)])), &world)
        for _ in 0..<3 { read(.failure(RegistryError(.unavailable, "away")), &world) }
        #expect(world.machine.pauses == [Self.pause(nil)] && stops(world) == [.paused])
        #expect(world.notices.count { if case .pausesNotRead = $0 { true } else { false } } == 1, "told once")
    }

    @Test("Reading the pauses says nothing about look-ups: neither that the registry answers nor that it does not")
    func isNoLookUp() {
        var world = MachineWorld()
        world.deliver([MachineWorld.push("a")])
        world.answer(.failure(RegistryError(.unavailable, "away")))
        world.milliseconds += Int64(PipelineMachine.pausesIntervalMilliseconds)
        world.tick()
        #expect(world.requests.map(\.isForPauses).contains(true))
        world.answerPauses([])
        func isAbout(_ notice: PipelineNotice) -> Bool {
            switch notice {
            case .registryAnswers, .registryIsSlow: true
            default: false
            }
        }
        #expect(!world.notices.contains(where: isAbout))
        world.answerWithDevices()
        #expect(world.notices.contains { if case .registryAnswers = $0 { true } else { false } })
        world.pass(milliseconds: 60_000)
        #expect(!world.notices.contains { if case .registryIsSlow = $0 { true } else { false } })
    }

    @Test("Each change is told once: a pause, another reason, its end; those of unknown apps are left out")
    func notices() {
        var world = MachineWorld()
        let steps: [[AppPause]] = [
            [Self.pause("chat"), Self.pause("nobody")], [Self.pause("chat")], [Self.pause("chat", "other")],
            [Self.pause(nil), Self.pause("chat", "other")], [Self.pause(nil)], [],
        ]
        for pauses in steps { read(.success(.pausesRead(pauses)), &world) }
        let told = world.notices.compactMap { notice -> String? in
            switch notice {
            case .paused(let pause): "\(pause.app ?? "*") \(pause.reason)"
            case .resumed(let app): "\(app ?? "*") resumed"
            default: nil
            }
        }
        #expect(
            told == ["chat a bad release", "chat other", "* a bad release", "chat resumed", "* resumed"])
        #expect(stops(world) == [.paused, nil])
    }

    @Test("A worker that starts while all is paused stops to consume only when it has found its queues")
    func startsPaused() {
        var world = MachineWorld(answersPauses: false)
        world.answer(.success(.pausesRead([Self.pause(nil)])))
        #expect(stops(world).isEmpty && world.requests.count == 1)
        world.machine.sourceStateChanged(.consuming(epoch: 1), at: world.now)
        world.tick()
        #expect(stops(world) == [.paused])
    }
}

extension PipelineActions.Request {
    fileprivate var isForPauses: Bool { if case .readPauses = request { true } else { false } }
}
