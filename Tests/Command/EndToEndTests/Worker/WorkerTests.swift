import APNsSimulator
import Crypto
import Glibc
import PushTestKit
import Testing

@Suite("The worker, as a process between RabbitMQ and APNs")
struct WorkerTests {
    @Test("Changes and requested pushes reach their devices, and nothing is left in the queues")
    func mainJob() async throws {
        let fixture = try await WorkerFixture()
        try fixture.register(40, perIdentity: 2)
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        let push = TestEvents.pushRequested(
            "p1", to: .devices(["device-3"]), notification: #"{"title":"Hi","body":"there"}"#,
            options: #"{"collapseId":"c"}"#)
        try await fixture.publish(
            (0..<20).map {
                WorkerFixture.datasetChanged("e\($0)", identity: $0, syncCount: 1, deviceID: "device-\(2 * $0)")
            }
                + [push])
        try await fixture.simulator.waitForAnswers(21)
        let pushes = try await fixture.simulator.recorded()
        let silent = pushes.filter { $0.pushType == "background" }
        #expect(Set(silent.map(\.deviceToken)) == Set((0..<20).map { TestDevices.token(2 * $0 + 1) }))
        #expect(silent.allSatisfy { $0.priority == "5" && $0.topic == "com.example.chat" && $0.status == 200 })
        let alert = try #require(pushes.first { $0.pushType == "alert" })
        #expect(alert.deviceToken == TestDevices.token(3) && alert.collapseID == "c")
        #expect(String(decoding: alert.payload, as: UTF8.self).contains(#""title":"Hi""#))
        let end = await worker.drain()
        #expect(end.exitCode == 0, "\(end.errors)")
        #expect(end.errors.contains(#""event":"ledger""#) && end.errors.contains(#""balanced":true"#))
        #expect(!end.errors.contains(TestDevices.token(3)), "a whole token is in the log")
        try await fixture.waitForMessages(0)
        try await fixture.stop()
    }

    @Test("A worker that is killed in the middle of the load loses nothing, and repeats at most its prefetch")
    func killedWorker() async throws {
        let fixture = try await WorkerFixture(configuration: "")
        let count = 3_000
        try fixture.register(count)
        let first = try fixture.startWorker()
        _ = try await first.readiness(200)
        async let published: Void = fixture.publish(
            (0..<count).map { WorkerFixture.datasetChanged("e\($0)", identity: $0, syncCount: 1) })
        try await fixture.simulator.waitForAnswers(count / 10)
        await first.killHard()
        try await published
        let second = try fixture.startWorker()
        _ = try await second.readiness(200)
        let accepted = try await fixture.accepted(reachingDevices: count)
        #expect(accepted.count - count <= 1_000, "more duplicates than the prefetch")
        let end = await second.drain()
        #expect(end.exitCode == 0)
        try await fixture.stop()
    }

    @Test("A worker that is asked to end under load loses nothing and repeats nothing")
    func drainedWorker() async throws {
        let fixture = try await WorkerFixture()
        let count = 3_000
        try fixture.register(count)
        let first = try fixture.startWorker()
        _ = try await first.readiness(200)
        async let published: Void = fixture.publish(
            (0..<count).map { WorkerFixture.datasetChanged("e\($0)", identity: $0, syncCount: 1) })
        try await fixture.simulator.waitForAnswers(count / 10)
        let end = await first.drain()
        #expect(end.exitCode == 0, "\(end.errors)")
        try await published
        let second = try fixture.startWorker()
        try await fixture.simulator.waitForAnswers(count)
        _ = await second.drain()
        try await fixture.waitForMessages(0)
        let accepted = try await fixture.simulator.recorded()
        #expect(accepted.count == count && Set(accepted.map(\.apnsID)).count == count)
        try await fixture.stop()
    }

    @Test("Two workers share a queue and a registry, and each push is sent by one of them")
    func twoWorkers() async throws {
        let fixture = try await WorkerFixture()
        let count = 4_000
        try fixture.register(count)
        let workers = [try fixture.startWorker(), try fixture.startWorker()]
        for worker in workers { _ = try await worker.readiness(200) }
        try await fixture.publish(
            (0..<count).map { WorkerFixture.datasetChanged("e\($0)", identity: $0, syncCount: 1) })
        try await fixture.simulator.waitForAnswers(count)
        for worker in workers {
            #expect(try await worker.metric("apus_pushes_total", #"outcome="accepted""#) > 0)
            await worker.drainCleanly()
        }
        try await fixture.waitForMessages(0)
        #expect(try await fixture.simulator.recorded().count == count)
        try await fixture.stop()
    }

    @Test("Dead, throttled, failing and silent tokens end as they should, and the ledger accounts for each push")
    func scriptedTokens() async throws {
        let dead = TestDevices.token(0)
        let throttled = TestDevices.token(1)
        let failing = TestDevices.token(2)
        let silent = TestDevices.token(3)
        let fixture = try await WorkerFixture(
            script: """
                {"token":"\(dead)","answer":"unregistered"}
                {"token":"\(throttled)","answer":"throttle","times":1}
                {"token":"\(failing)","answer":"status","status":503,"reason":"ServiceUnavailable","times":2}
                {"token":"\(silent)","answer":"silent"}
                """, configuration: "[worker]\npush_timeout = \"1s\"\n")
        try fixture.register(20)
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        try await fixture.publish(
            (0..<20).map { WorkerFixture.datasetChanged("e\($0)", identity: $0, syncCount: 1) })
        try await worker.wait(for: "apus_pushes_total", #"outcome="accepted""#, toReach: 18)
        try await worker.wait(for: "apus_pushes_total", #"outcome="token_dead""#, toReach: 1)
        try await worker.wait(for: "apus_push_attempts_ambiguous_total", toReach: 2)
        #expect(try await worker.metric("apus_tokens_pruned_total") == 1)
        let show = try await fixture.apus("device", "show", "device-0")
        #expect(show.exitCode != 0, "the dead token is still registered")
        #expect(try await fixture.apus("device", "show", "device-1").exitCode == 0)
        let end = await worker.drain()
        #expect(end.errors.contains(#""balanced":true"#), "\(end.errors)")
        try await fixture.stop()
    }

    @Test("Broken events are dead letters that can be listed, and replayed when they are right")
    func deadLetters() async throws {
        let fixture = try await WorkerFixture()
        try fixture.register(1)
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        let other = TestEvents.pushRequested("u1", to: .tokens([TestDevices.token(0)]), app: "later")
        try await fixture.publish([TestEvents.message(other)])
        try await worker.wait(for: "apus_dead_letters_total", "unknown-app", toReach: 1)
        let list = try await fixture.apus("dead-letters", "list", "--json")
        #expect(list.exitCode == 0 && list.output.contains("unknown-app"), "\(list)")
        _ = await worker.drain()

        let configuration = try fixture.folder.read("apus.toml")
        try fixture.folder.write("apus.toml", configuration.replacing(#"name = "chat""#, with: #"name = "later""#))
        let second = try fixture.startWorker()
        _ = try await second.readiness(200)
        let replay = try await fixture.apus("dead-letters", "replay", "--all")
        #expect(replay.exitCode == 0, "\(replay)")
        try await fixture.simulator.waitForAnswers(1)
        #expect(try await fixture.simulator.recorded().first?.deviceToken == TestDevices.token(0))
        _ = await second.drain()
        try await fixture.stop()
    }

    @Test("A worker without its topology is not ready, says which queue is missing, and begins when it is there")
    func missingTopology() async throws {
        let fixture = try await WorkerFixture()
        try fixture.register(1)
        try await fixture.broker.control("delete_queue", "\(fixture.namespace).work")
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(503, mentioning: "\(fixture.namespace).work")
        #expect(try await worker.get("/livez").status == 200)
        #expect(try await fixture.apus("topology", "apply").exitCode == 0)
        _ = try await worker.readiness(200)
        try await fixture.publish([WorkerFixture.datasetChanged("e1", identity: 0, syncCount: 1)])
        try await fixture.simulator.waitForAnswers(1)
        _ = await worker.drain()
        try await fixture.stop()
    }

    @Test("A broker that is killed and comes back loses nothing")
    func killedBroker() async throws {
        let broker = try await PrivateRabbitMQ.start()
        let fixture = try await WorkerFixture(broker: broker)
        let count = 2_000
        try fixture.register(count)
        try await fixture.publish(
            (0..<count).map { WorkerFixture.datasetChanged("e\($0)", identity: $0, syncCount: 1) })
        let worker = try fixture.startWorker()
        try await fixture.simulator.waitForAnswers(count / 10)
        try broker.kill()
        try await broker.startAgain()
        _ = try await worker.readiness(200)
        let accepted = try await fixture.accepted(reachingDevices: count)
        #expect(accepted.count - count <= 1_000, "more duplicates than the prefetch")
        await worker.drainCleanly()
        broker.stop()
        try await fixture.stop()
    }

    @Test("A second signal ends the worker at once")
    func secondSignal() async throws {
        let fixture = try await WorkerFixture(script: #"{"token":"","answer":"silent"}"#)
        try fixture.register(1)
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        try await fixture.publish([WorkerFixture.datasetChanged("e1", identity: 0, syncCount: 1)])
        try await worker.wait(for: "apus_pushes_in_flight", toReach: 1)
        worker.command.signal(SIGTERM)
        try await worker.command.wait(for: "worker.draining")
        worker.command.signal(SIGTERM)
        #expect(await worker.command.end().exitCode == 75)
        try await fixture.waitForMessages(1)
        try await fixture.stop()
    }

    @Test("The metrics are clean for promtool, and say what the process is")
    func metrics() async throws {
        let fixture = try await WorkerFixture()
        try fixture.register(1)
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        let text = try await worker.get("/metrics").body
        let check = try await CommandRunner.run(
            "/usr/bin/promtool", ["check", "metrics"], input: text, in: fixture.folder)
        #expect(check.exitCode == 0 && (check.output + check.errors).isEmpty, "\(check)")
        #expect(text.contains("apus_build_info{") && text.contains("apus_event_lag_seconds_bucket"))
        _ = await worker.drain()
        try await fixture.stop()
    }

    @Test("A key that APNs does not accept requeues the pushes, turns readiness red, and says what to check")
    func wrongKey() async throws {
        let fixture = try await WorkerFixture()
        try fixture.register(3)
        let configuration = try fixture.folder.read("apus.toml")
        try fixture.folder.write("apus.toml", configuration.replacing("ABC123DEFG", with: "XYZ123DEFG"))
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        try await fixture.publish(
            (0..<3).map { WorkerFixture.datasetChanged("e\($0)", identity: $0, syncCount: 1) })
        let body = try await worker.readiness(503)
        #expect(body.contains("chat"), "\(body)")
        try await worker.wait(for: "apus_pushes_total", #"outcome="requeued_retry""#, toReach: 3)
        #expect(worker.command.errors.contains("push.key.rejected"))
        _ = await worker.drain()
        try await fixture.stop()
    }
}
