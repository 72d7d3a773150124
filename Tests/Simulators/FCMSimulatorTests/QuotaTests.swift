import PushServiceSimulator
import PushTestKit
import SimulatorTestClient
import Testing

@testable import FCMSimulator

@Suite("FCM: quotas", .timeLimit(.minutes(10)))
struct QuotaTests {
    private func quotas(_ change: (inout FCMQuotas) -> Void) -> FCMQuotas {
        var quotas = FCMQuotas.unlimited
        change(&quotas)
        return quotas
    }

    @Test("The project's bucket is filled whole each minute; 4xx cost, 429 and 5xx do not")
    func project() async throws {
        let script = try TargetScript.lines(
            """
            {"token":"gone","answer":"unregistered"}
            {"token":"down","answer":"unavailable"}
            """)
        let summary = try await FCMFixture.run(
            FCMFixture.configured {
                $0.script = script
                $0.quotas = quotas { $0.projectPerMinute = 3 }
                $0.quotaRetryAfterSeconds = 42
            }
        ) { fixture in
            let token = try await fixture.accessToken()
            func status(_ device: String) async -> Int? {
                await fixture.client.send(fixture.message(to: device, accessToken: token)).status
            }
            #expect(await status("gone") == 404)
            for _ in 0..<5 { #expect(await status("down") == 503) }
            #expect(await status("good") == 200)
            fixture.clock.advance(bySeconds: 59)
            #expect(await status("good") == 200)
            let refused = await fixture.client.send(fixture.message(to: "good", accessToken: token))
            #expect(refused.status == 429 && refused.header("retry-after") == "42")
            #expect(refused.body?.contains("RATE_LIMIT_EXCEEDED") == true)
            #expect(try FCMFixture.errorCode(refused) == nil)
            #expect(await fixture.client.send(fixture.request(body: "{}", accessToken: nil)).status == 401)
            fixture.clock.advance(bySeconds: 1)
            for _ in 0..<3 { #expect(await status("good") == 200) }
            #expect(await status("good") == 429)
        }
        #expect(summary.count("RATE_LIMIT_EXCEEDED") == 2)
    }

    @Test("A device takes so many messages a minute, and so many an hour; others are not concerned")
    func device() async throws {
        try await FCMFixture.run(
            FCMFixture.configured {
                $0.quotas = quotas {
                    $0.devicePerMinute = 2
                    $0.devicePerHour = 3
                }
            }
        ) { fixture in
            var token = try await fixture.accessToken()
            func send(_ device: String) async -> ClientResponse {
                await fixture.client.send(fixture.message(to: device, accessToken: token))
            }
            for expected in [200, 200, 429] { #expect(await send("a").status == expected) }
            #expect(try FCMFixture.errorCode(await send("a")) == "QUOTA_EXCEEDED")
            #expect(await send("b").status == 200)
            fixture.clock.advance(bySeconds: 60)
            for expected in [200, 429] { #expect(await send("a").status == expected) }
            fixture.clock.advance(bySeconds: 3_600)
            token = try await fixture.accessToken()
            for expected in [200, 200, 429] { #expect(await send("a").status == expected) }
            let topic = fixture.request(body: #"{"message":{"topic":"t"}}"#, accessToken: token)
            for _ in 0..<5 { #expect(await fixture.client.send(topic).status == 200) }
        }
    }

    @Test("FCM's own numbers: 240 a minute to a device, 20 collapsible at once and one more each three minutes")
    func defaults() async throws {
        let summary = try await FCMFixture.run { fixture in
            let token = try await fixture.accessToken()
            let plain = fixture.message(to: "plain", accessToken: token)
            let statuses = await fixture.client.send((0..<50).map { _ in plain }).map(\.status)
            #expect(statuses.allSatisfy { $0 == 200 })
            for _ in 50..<240 { #expect(await fixture.client.send(plain).status == 200) }
            #expect(await fixture.client.send(plain).status == 429)
            let collapsible = fixture.message(
                to: "collapsible", #""android":{"collapse_key":"k"}"#, accessToken: token)
            for _ in 0..<21 { #expect(await fixture.client.send(collapsible).status == 200) }
            fixture.clock.advance(bySeconds: 179)
            #expect(await fixture.client.send(collapsible).status == 200)
            fixture.clock.advance(bySeconds: 1)
            #expect(await fixture.client.send(collapsible).status == 200)
            #expect(await fixture.client.send(collapsible).status == 200)
            let records = try await fixture.simulator.recorded().filter { $0.collapseKey == "k" }
            #expect(records.map(\.isDelayed) == Array(repeating: false, count: 20) + [true, true, false, true])
        }
        #expect(summary.delayed == 3)
    }

    @Test("What shows something is collapsible even without a key, data alone is not")
    func notificationsCollapse() async throws {
        try await FCMFixture.run(FCMFixture.configured { $0.quotas.collapsibleBurst = 1 }) { fixture in
            let token = try await fixture.accessToken()
            let members = [
                #""notification":{"title":"t"}"#, #""android":{"notification":{"title":"t"}}"#, #""data":{"a":"1"}"#,
            ]
            for member in members { _ = await fixture.client.send(fixture.message(member, accessToken: token)) }
            for member in members { _ = await fixture.client.send(fixture.message(member, accessToken: token)) }
            let delayed = try await fixture.simulator.recorded().map(\.isDelayed)
            #expect(delayed == [false, true, false, true, true, false])
        }
    }

    @Test("A sender that comes back too soon is counted, one that waits is not")
    func earlyRetries() async throws {
        let script = try TargetScript.lines(
            """
            {"token":"down","answer":"unavailable"}
            {"token":"asked","answer":"unavailable","retry_after":30}
            {"token":"busy","answer":"quota"}
            {"token":"told","answer":"quota","retry_after":5}
            """)
        let summary = try await FCMFixture.run(
            FCMFixture.configured {
                $0.script = script
                $0.faults = try .fcm(#"{"fault":"answer","token":"front","status":502,"body":"","times":1}"#)
            }
        ) { fixture in
            let token = try await fixture.accessToken()
            func send(_ device: String, after seconds: Int64 = 0) async {
                fixture.clock.advance(bySeconds: seconds)
                _ = await fixture.client.send(fixture.message(to: device, accessToken: token))
            }
            for device in ["down", "asked", "front", "busy", "told"] { await send(device) }
            await send("told", after: 5)  // in time
            await send("down", after: 4)  // one second early
            await send("front")  // early, after the answer of a fault
            await send("asked", after: 20)  // one second early
            await send("busy", after: 30)  // one second early
            await send("busy", after: 60)  // in time
            await send("down", after: 20)  // in time
            // Another message to the same device is no repetition.
            await send("busy", after: 100)
            _ = await fixture.client.send(fixture.message(to: "busy", #""data":{"other":"1"}"#, accessToken: token))
        }
        #expect(summary.earlyAfterServerError == 3)
        #expect(summary.earlyAfterThrottling == 1)
    }

    @Test("The buckets agree with a naive account of every message")
    func agreesWithOracle() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var quotas = FCMQuotas.unlimited
        quotas.devicePerMinute = 5
        quotas.devicePerHour = 20
        var machine = QuotaMachine(quotas)
        var minutes: [String: (start: Int64, count: Int)] = [:]
        var hours: [String: (start: Int64, count: Int)] = [:]
        var now: Int64 = 1_000_000
        for _ in 0..<5_000 {
            now += Int64.random(in: 0...20_000, using: &generator)
            let device = "d\(Int.random(in: 0..<3, using: &generator))"
            var minute = minutes[device] ?? (now, 0)
            if now - minute.start >= 60_000 { minute = (now, 0) }
            var hour = hours[device] ?? (now, 0)
            var isAdmitted = minute.count < 5
            if isAdmitted {
                minute.count += 1
                if now - hour.start >= 3_600_000 { hour = (now, 0) }
                isAdmitted = hour.count < 20
                if isAdmitted { hour.count += 1 }
            }
            (minutes[device], hours[device]) = (minute, hour)
            let answer = machine.admit(MessageTarget(.token, device), isCollapsible: true, nowMilliseconds: now)
            #expect(answer == (isAdmitted ? .admitted : .refused), "seed \(seed)")
        }
    }
}
