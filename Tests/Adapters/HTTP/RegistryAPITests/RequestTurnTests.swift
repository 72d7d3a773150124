import Dispatch
import EventLoop
import Foundation
import Notifications
import PushTestKit
import RegistryCore
import StructuredLogging
import TestTraits
import Testing

@testable import RegistryAPI
@testable import SQLiteRegistry

@Suite("Requests in turns, and bodies within limits", .ownThread)
struct RequestTurnTests {
    @Test("A loop takes one request a tick, of each credential in turn, and its timers between them")
    func turns() async throws {
        let folder = try TemporaryFolder()
        let loop = try EventLoop(name: "test")
        defer { loop.stopAndJoin() }
        let context = LoopBound(
            RegistryContext(
                loop: loop, registry: try SQLiteRegistry.open(path: folder.path + "/registry.db", mode: .create),
                purpose: .writing,
                courier: LongPollQueue(loop: loop, waitSecondsMaximum: 0),
                courierTokens: CourierTokens(.random()), health: RegistryHealth(), logger: .silent,
                nowMilliseconds: { 0 }), to: loop)
        let line = RequestLine(context)
        let done = Watched<[String]>([])
        let mayBegin = DispatchSemaphore(value: 0)
        loop.submit {
            mayBegin.wait()
            loop.schedule(afterNanoseconds: 0) { done.update { $0.append("timer") } }
        }
        func append(_ name: String, of credential: String) {
            line.append(
                RequestLine.Entry { _ in
                    done.update { $0.append(name) }
                } refuse: { reason in
                    done.update { $0.append("\(name) \(reason)") }
                }, of: credential)
        }
        for number in 0..<130 { append("a\(number)", of: "a") }
        for number in 0..<2 { append("b\(number)", of: "b") }
        #expect(done.value == ["a128 share", "a129 share"])
        mayBegin.signal()
        #expect(await done.wait { $0.count == 133 })
        let order = done.value.dropFirst(2).filter { $0 != "timer" }
        #expect(Array(order.prefix(5)) == ["a0", "b0", "a1", "b1", "a2"])
        #expect(done.value.firstIndex(of: "timer").map { $0 < 4 } == true)
    }

    @Test("Who sends one write is served before the many that another has sent first, of which some are refused")
    func oneAmongMany() async throws {
        let store = try await ServedStore(lockMilliseconds: 100_000)
        let other = BearerToken.random()
        try SQLiteRegistry.open(path: store.path, mode: .readWrite).saveToken(
            APIToken(name: "other", digest: other.digest, app: nil, permission: .write, createdAtMilliseconds: 1))
        // Only of a token that was found the server knows that it is one.
        for token in [store.token, other.revealed] {
            #expect(store.send("GET", "/v1/devices", token: token).status == 200)
        }
        let unlock = try store.lock()
        let many = OpenRequests(store.server.port, token: store.token)
        for number in 0..<140 { many.send("PUT", "/v1/devices/d\(number)", ServedStore.device(number)) }
        // One is at work, and 128 wait.
        many.take(untilCount: 11)
        #expect(many.answers.allSatisfy { $0.status == 429 && $0.headers["retry-after"] == "1" })
        #expect(many.answers.allSatisfy { $0.body.contains("too-many-requests") })
        let one = OpenRequests(store.server.port, token: other.revealed)
        one.send("PUT", "/v1/devices/other", ServedStore.device(200))
        unlock()
        one.take(untilCount: 1)
        let waiting = many.openCount
        many.take()
        #expect(one.answers.first?.status == 201)
        #expect(many.openCount > waiting / 2, "\(many.openCount) of \(waiting)")
        many.take(untilCount: 140)
        #expect(many.answers.allSatisfy { [201, 429].contains($0.status) })
    }

    @Test("A body that is longer than its route can need is refused in the form of the dialect, and not read")
    func bodyLimits() async throws {
        let store = try await ServedStore(lockMilliseconds: 50)
        let user = "ckWebAuthToken=mei"
        let container = "/database/1/iCloud.com.example.chat/production"
        for (method, path, bytes, word) in [
            ("PUT", "/v1/devices/d/badge", 20_000, "too-large"),
            ("PUT", "/v1/devices/d/subscriptions/s", 140_000, "too-large"),
            ("POST", "\(container)/tokens/register?\(user)", 20_000, "QUOTA_EXCEEDED"),
            ("POST", "\(container)/public/subscriptions/lookup?\(user)", 140_000, "QUOTA_EXCEEDED"),
            ("POST", "/identitypools/p/identity/i/device", 20_000, "RequestEntityTooLargeException"),
        ] {
            // The token is unknown, so the client is, too.
            let answer = store.send(method, path, String(repeating: "x", count: bytes), token: "none")
            #expect(answer.status == 413 && answer.body.contains(word), "\(method) \(path): \(answer)")
        }
        let topics = (0..<1_000).map { #""topic-\#($0)-\#(String(repeating: "x", count: 200))""# }
        let large = #"{"platform":"APNS","token":"ab12","app":"chat","topics":[\#(topics.joined(separator: ","))]}"#
        #expect(store.send("PUT", "/v1/devices/d", large).status == 201)
    }
}
