import APNsSimulator
import JSON
import PushTestKit
import Testing

@Suite("Clients that fetch their notifications, with a worker as a process")
struct WorkerCourierTests {
    @Test(
        "A client without APNs is told of the records that its user asked for, and a phone of APNs",
        .timeLimit(.minutes(5)))
    func recordReachesClient() async throws {
        let fixture = try await WorkerFixture(configuration: "[registry]\nlisten = \"127.0.0.1:0\"")
        let phone = TestDevices.token(1)
        _ = try await fixture.apus("device", "add", "--app", "chat", "--token", phone, "--id", "d1", "--user", "anna")
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        let port = try await worker.registryPort()
        let added = try await fixture.apus("registry", "token", "add", "web", "--app", "chat", "--permission", "write")
        try #require(added.exitCode == 0, "\(added)")
        let secret = added.output.split(whereSeparator: \.isWhitespace).last.map(String.init) ?? ""
        let answer = PlainHTTP.request(
            "POST",
            "/device/1/iCloud.com.example.chat/production/tokens/create?ckAPIToken=\(secret)&ckWebAuthToken=anna",
            port: port, body: #"{"apnsEnvironment":"production","clientId":"browser"}"#)
        try #require(answer.status == 200, "\(answer)")
        let url = try #require(try JSONParser().parse(answer.body)["webcourierURL"]?.string)
        let path = "/" + url.split(separator: "/").dropFirst(2).joined(separator: "/")
        let saved = try await fixture.apus(
            "subscription", "save", "songs", "--app", "chat", "--user", "anna", "--type", "Song", "--alert", "{title}")
        try #require(saved.exitCode == 0, "\(saved)")
        async let waiting = PlainHTTP.requestInBackground("GET", path, port: port)
        try await fixture.publish([TestEvents.record("1", name: "song-1", fields: #"{"title":"Dear"}"#)])
        let notification = await waiting
        #expect(notification.status == 200, "\(notification)")
        #expect(notification.body.contains(#""alert":"Dear""#) && notification.body.contains(#""sid":"songs""#))
        #expect(notification.body.contains(#""cid":"iCloud.com.example.chat""#))
        try await fixture.simulator.waitForAnswers(1)
        await worker.drainCleanly()
        try await fixture.waitForMessages(0)
        #expect(try await fixture.simulator.recorded().map(\.deviceToken) == [phone])
        try await fixture.stop()
    }
}
