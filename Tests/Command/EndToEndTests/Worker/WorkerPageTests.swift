import APNsSimulator
import Foundation
import JSON
import Messages
import PushTestKit
import Testing

@Suite("The operator's page of real workers", .serialized)
struct WorkerPageTests {
    private func get(_ worker: WorkerProcess, _ path: String) async throws -> JSONValue {
        let answer = try await worker.get("/ui/api/\(path)")
        try #require(answer.status == 200, "\(path): \(answer)")
        return try JSONParser().parse(answer.body)
    }

    private func post(_ worker: WorkerProcess, _ path: String, _ json: String) async throws -> JSONValue {
        let answer = try await worker.post("/ui/api/\(path)", json: json)
        try #require((200..<300).contains(answer.status), "\(path): \(answer)")
        return try JSONParser().parse(answer.body)
    }

    /// Waits until an action has ended as asked.
    private func done(_ answer: JSONValue, _ worker: WorkerProcess) async throws -> Int64? {
        let number = try #require(answer["action"]?["number"]?.int64)
        let body = try await eventually("the action \(number) to end") {
            try await worker.get("/ui/api/actions/\(number)").body
        } until: {
            !$0.contains("\"running\"")
        }
        let action = try #require(try JSONParser().parse(body)["action"])
        #expect(action["state"]?.string == "done", "\(body)")
        return action["done"]?.int64
    }

    @Test("Each of two workers shows both of them, the queues, and the pushes of both")
    func now() async throws {
        let fixture = try await WorkerFixture()
        try fixture.register(20)
        let workers = [try fixture.startWorker(), try fixture.startWorker()]
        for worker in workers { try await worker.readiness(200) }
        try await fixture.publish(
            (0..<20).map { WorkerFixture.datasetChanged("e-\($0)", identity: $0, syncCount: 1) })
        _ = try await fixture.accepted(reachingDevices: 20)
        for worker in workers {
            try await eventually("both workers and their pushes to be shown") {
                let now = try await get(worker, "now")
                let states = now["workers"]?.array?.map { $0["state"]?.string } ?? []
                return states == ["ready", "ready"] && now["totals"]?["accepted"]?.int64 == 20
                    && now["lag"]?["count"]?.int64 == 20
            }
            let now = try await get(worker, "now")
            #expect(now["apps"]?.array?.map { $0["state"]?.string } == ["ok"])
            let kinds = now["queues"]?["list"]?.array?.map { $0["kind"]?.string ?? "" } ?? []
            #expect(kinds == ["work", "retry", "retry", "retry", "fan-out", "dead-letter"])
            #expect(now["queues"]?["list"]?.array?.first { _ in true }?["consumers"]?.int64 == 2)
        }
        let top = try await fixture.apus("top", "--once")
        #expect(top.exitCode == 0 && top.output.hasPrefix("2 workers, 2 ready\n"), "\(top)")
        for text in ["dead letters  0, 0 to be collected", "APP   STATE", ".work 0 (2 consumers)"] {
            #expect(top.output.contains(text), "\(top.output)")
        }
        let json = try await fixture.apus("top", "--once", "--json")
        #expect(try JSONParser().parse(json.output)["totals"]?["accepted"]?.int64 == 20)
        await workers[0].drain()
        try await eventually("the worker that has ended to be gone") {
            try await get(workers[1], "now")["workers"]?.array?.count == 1
        }
        await workers[1].drain()
        try await fixture.stop()
    }

    @Test("Dead letters are collected, replayed and purged exactly as previewed, and the audit log tells who did it")
    func deadLetters() async throws {
        let fixture = try await WorkerFixture()
        try fixture.register(1)
        let worker = try fixture.startWorker()
        try await worker.readiness(200)
        let push = #"{"app":"chat","deviceIds":["device-0"],"notification":{"title":"Hello"}}"#
        let bad = [
            TestEvents.event("bad-1", "push.requested", #"{"app":"chat"}"#),
            TestEvents.event("bad-2", "no.such", "{}"), TestEvents.event("bad-3", "no.such", "{}"),
        ]
        try await fixture.publish(bad.map { Message(body: Array($0.utf8)) })
        try await worker.wait(for: "apus_dead_letters_total", toReach: 3)
        try await eventually("the letters to wait in the queue") {
            try await get(worker, "dead-letters/counts")["waiting"]?.int64 == 3
        }
        #expect(try await done(try await post(worker, "dead-letters/collect", "{}"), worker) == 3)
        let filter = #"{"reason":"unknown-type"}"#
        let counts = try await get(worker, "dead-letters/counts?reason=unknown-type")
        #expect(counts["total"]?.int64 == 2)
        for action in ["purge", "replay"] {
            let preview = try await post(
                worker, "dead-letters/preview",
                #"{"action":"\#(action)","filter":\#(action == "purge" ? filter : "{}")}"#)
            let count = try #require(preview["count"]?.int64)
            let token = try #require(preview["token"]?.string)
            #expect(count == (action == "purge" ? 2 : 1))
            let answer = try await post(
                worker, "dead-letters/apply", #"{"token":"\#(token)","action":"\#(action)","count":\#(count)}"#)
            #expect(try await done(answer, worker) == count)
        }
        // The replayed one is bad still.
        try await worker.wait(for: "apus_dead_letters_total", toReach: 4)
        let sent = try await post(worker, "test-push", #"{"deviceId":"device-0","title":"Hello"}"#)
        let accepted = try await fixture.accepted(reachingDevices: 1)
        #expect(accepted.map(\.apnsID) == [sent["apnsId"]?.string])
        let explained = try await post(
            worker, "explain", #"{"deviceId":"device-0","event":\#(TestEvents.event("e", "push.requested", push))}"#)
        #expect(explained["verdict"]?.string == "would-get")
        let names = try await get(worker, "actions")["actions"]?.array?.map { $0["name"]?.string ?? "" } ?? []
        #expect(names == ["test-push.send", "dead-letters.replay", "dead-letters.purge", "dead-letters.collect"])
        #expect(worker.command.errors.contains(#""page.action""#))
        await worker.drain()
        try await fixture.stop()
    }

    @Test("With PostgreSQL and RabbitMQ's management API the page shows what is unacknowledged, pauses and explains")
    func postgresAndManagement() async throws {
        let server = try await PrivatePostgreSQL.shared()
        let fixture = try await WorkerFixture.withManagementAPI()
        let url = server.url(database: try await server.makeDatabase())
        let written = try fixture.folder.read("apus.toml")
        try fixture.folder.write("apus.toml", written + "\n[registry]\nurl = \"\(url)\"\n")
        let imported = try await fixture.apus("device", "import", input: WorkerPostgresTests.lines(3))
        #expect(imported.exitCode == 0, "\(imported)")
        let worker = try fixture.startWorker()
        try await worker.readiness(200)
        // RabbitMQ tells its API of a queue only after seconds.
        try await eventually("the management API to tell of the queues") {
            let list = try await get(worker, "now")["queues"]?["list"]?.array
            return list?.first { _ in true }?["unacknowledged"]?.int64 == 0
        }
        let event = WorkerFixture.datasetChanged("e", identity: 1, syncCount: 1)
        let question = #"{"deviceId":"device-1","event":\#(event)}"#
        #expect(try await post(worker, "explain", question)["verdict"]?.string == "would-get")
        _ = try await post(worker, "pauses", #"{"app":"chat","reason":"the database moves"}"#)
        #expect(try await post(worker, "explain", question)["verdict"]?.string == "would-not-get")
        _ = try await worker.readiness(200, mentioning: "the database moves")
        try await fixture.publish([event])
        try await eventually("the pause to be reported by a worker that stays ready") {
            let now = try await get(worker, "now")
            let reported = now["workers"]?.array?.first { _ in true }
            let reasons = reported?["readiness"]?.array?.compactMap { $0["reason"]?.string } ?? []
            return now["apps"]?.array?.first { _ in true }?["paused"]?.bool == true && reasons.count == 1
                && reasons[0].contains("the database moves") && reported?["state"]?.string == "ready"
        }
        let found = try await get(worker, "find?kind=device&value=device-1")
        #expect(found["devices"]?.array?.map { $0["datasets"]?.array?.map { $0.string } ?? [] } == [["notes"]])
        _ = try await post(worker, "pauses/resume", #"{"app":"chat"}"#)
        _ = try await fixture.accepted(reachingDevices: 1)
        #expect(try await get(worker, "actions")["actions"]?.array?.count == 2)
        await worker.drain()
        try await fixture.stop()
    }

    @Test("Users are added by a command, and the page of a worker asks for them")
    func users() async throws {
        let fixture = try await WorkerFixture()
        try fixture.register(1)
        let written = try fixture.folder.read("apus.toml")
        try fixture.folder.write(
            "apus.toml", written.replacing("[admin]", with: "[admin]\nusers_file = \"page-users\""))
        let tooShort = try await fixture.apus("page", "user", "add", "maria", input: "short\n")
        #expect(tooShort.exitCode == 65)
        let added = try await fixture.apus(
            "page", "user", "add", "maria", "--role", "operator", input: "long password\n")
        #expect(added.exitCode == 0, "\(added)")
        let mode = try FileManager.default.attributesOfItem(atPath: fixture.folder.path + "/page-users")
        #expect(mode[.posixPermissions] as? Int == 0o600)
        let list = try await fixture.apus("page", "user", "list", "--json")
        #expect(list.output == #"{"name":"maria","role":"operator"}"# + "\n")
        #expect(try !fixture.folder.read("page-users").contains("long password"))
        let worker = try fixture.startWorker()
        #expect(try await worker.get("/ui/").status == 401)
        let credentials = Data("maria:long password".utf8).base64EncodedString()
        let answer = try await worker.get("/ui/api/session", fields: "Authorization: Basic \(credentials)\r\n")
        #expect(try JSONParser().parse(answer.body)["role"]?.string == "operator")
        let removed = try await fixture.apus("page", "user", "remove", "maria", "nobody")
        #expect(removed.exitCode == 65 && removed.output == "removed 1\n")
        try await eventually("maria to be out", equals: 401) {
            try await worker.get("/ui/", fields: "Authorization: Basic \(credentials)\r\n").status
        }
        await worker.drain()
        try await fixture.stop()
    }
}
