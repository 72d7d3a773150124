import Foundation
import Notifications
import PushTestKit
import RegistryAPI
import RegistryCore
import RegistrySQL
import TestTraits
import Testing

@testable import SQLiteRegistry

@Suite("A store that is locked, full, or gone", .ownThread)
struct StoreFailureTests {
    @Test("Reads and refusals do not wait for writers", arguments: ServedStore.Kind.allCases)
    func readsDoNotWait(_ kind: ServedStore.Kind) async throws {
        let store = try await ServedStore(kind, lockMilliseconds: 100_000)
        #expect(store.putDevice(0).status == 201)
        let unlock = try store.lock()
        let writes = OpenRequests(store.server.port, token: store.token)
        for number in 1...6 { writes.send("PUT", "/v1/devices/d\(number)", ServedStore.device(number)) }
        #expect(store.send("GET", "/v1/devices/d0").status == 200)
        #expect(store.send("GET", "/v1/devices").status == 200)
        #expect(store.send("PUT", "/v1/devices/d0", token: "apus_wrong").status == 401)
        let list = "/database/1/iCloud.com.example.chat/production/public/subscriptions/list?ckWebAuthToken=mei"
        #expect(store.send("GET", list).status == 200)
        writes.take()
        #expect(writes.answers.isEmpty)
        unlock()
        writes.take(untilCount: 6)
        #expect(writes.answers.map(\.status) == Array(repeating: 201, count: 6))
    }

    @Test("Of the writes that meet a lock one waits for it, and the others are told at once to come again")
    func waitsDoNotAddUp() async throws {
        for kind in ServedStore.Kind.allCases {
            let store = try await ServedStore(kind, lockMilliseconds: 1_000)
            #expect(store.putDevice(0).status == 201)
            let unlock = try store.lock()
            let writes = OpenRequests(store.server.port, token: store.token)
            for number in 1...6 { writes.send("PUT", "/v1/devices/d\(number)", ServedStore.device(number)) }
            writes.take(untilCount: 6)
            #expect(writes.answers.allSatisfy { $0.status == 503 && $0.headers["retry-after"] == "1" })
            // None, if a look of the server's own was faster.
            #expect(store.log.count("registry.request.failed") <= 1)
            // The share of errors is seen, too, while the store is well or not.
            #expect(await store.log.wait(for: "registry.requests.failing", count: 1))
            #expect(store.server.requestProblem?.contains("requests were answered with 5xx") == true)
            unlock()
            try await eventually("the server to be well") { store.server.failure == nil }
            #expect(store.putDevice(1).status == 201)
        }
    }

    @Test("Readiness is red for as long as writing fails, whatever can be read", arguments: ServedStore.Kind.allCases)
    func redWhileLocked(_ kind: ServedStore.Kind) async throws {
        let store = try await ServedStore(kind, lockMilliseconds: 50)
        #expect(store.putDevice(0).status == 201)
        #expect(store.server.failure == nil)
        let unlock = try store.lock()
        #expect(store.putDevice(1).status == 503)
        #expect(store.send("GET", "/v1/devices/d0").status == 200)
        #expect(store.send("GET", "/v1/devices/d9").status == 404)
        #expect(store.server.failure?.contains("locked") == true)
        #expect(await store.log.wait(for: "registry.check.failed", count: 3))
        #expect(store.server.failure?.contains("locked") == true)
        unlock()
        try await eventually("the server to be well") { store.server.failure == nil }
        #expect(store.putDevice(1).status == 201)
    }

    @Test("A lock that no request has met is found, too", arguments: ServedStore.Kind.allCases)
    func lockIsFound(_ kind: ServedStore.Kind) async throws {
        let store = try await ServedStore(kind, lockMilliseconds: 50)
        let unlock = try store.lock()
        try await eventually("the server to be ill") { store.server.failure != nil }
        unlock()
        try await eventually("the server to be well") { store.server.failure == nil }
        #expect(store.log.count("registry.check.succeeded") > 0)
    }

    @Test("On a full disk readiness is red until there is room, and what is there is served")
    func fullDisk() async throws {
        let token = try #require(DeviceToken(hexadecimal: "ab12"))
        let store = try await ServedStore(lockMilliseconds: 50) { registry in
            let room = (0..<3_000).map { number in
                DeviceRegistration(
                    device: Device(
                        deviceID: "old-\(number)", platform: .apns,
                        token: DeviceToken(bytes: [1, UInt8(number >> 8), UInt8(number & 255)]) ?? token,
                        app: "chat", userID: "mei", registeredAtMilliseconds: 1))
            }
            try registry.register(room)
            // The page limit makes SQLite report what a full disk makes it report; it cannot be below what there is.
            try #require(registry as? SQLiteRegistry).connection.execute("PRAGMA max_page_count = 1")
        }
        var number = 0
        while store.putDevice(number).status == 201 { number += 1 }
        #expect(store.server.failure?.contains("full") == true)
        #expect(store.send("GET", "/v1/devices/old-1").status == 200)
        #expect(store.server.failure?.contains("full") == true)
        #expect(await store.log.wait(for: "registry.check.failed", count: 3))
        #expect(store.server.failure?.contains("full") == true)
        let other = try SQLiteRegistry.open(path: store.path, mode: .readWrite)
        #expect(try other.eraseUser("mei") == 3_000)
        try await eventually("the server to be well") { store.server.failure == nil }
        #expect(store.putDevice(number).status == 201)
    }

    @Test("While PostgreSQL can only be read, clients are asked to come again, and what is there is served")
    func readOnlyServer() async throws {
        let store = try await ServedStore(.postgres, lockMilliseconds: 1_000)
        #expect(store.putDevice(0).status == 201)
        let postgres = try await PrivatePostgreSQL.shared()
        func setReadOnly(_ value: String) async throws {
            let database = store.database
            try await postgres.run(
                """
                ALTER DATABASE \(database) SET default_transaction_read_only = \(value);
                SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = '\(database)'
                """, database: "postgres")
        }
        try await setReadOnly("on")
        for _ in 0..<2 {
            let answer = store.putDevice(1)
            #expect(answer.status == 503 && answer.headers["retry-after"] == "1")
        }
        #expect(store.send("GET", "/v1/devices/d0").status == 200)
        #expect(store.server.failure?.contains("primary") == true)
        try await setReadOnly("off")
        try await eventually("the server to be well") { store.server.failure == nil }
        #expect(store.putDevice(1).status == 201)
    }

    @Test("When the file was removed nothing is confirmed, readiness is red, and its return is noticed")
    func removedFile() async throws {
        let store = try await ServedStore(lockMilliseconds: 50)
        #expect(store.putDevice(0).status == 201)
        try FileManager.default.moveItem(atPath: store.path, toPath: store.path + ".aside")
        #expect(store.putDevice(1).status == 503)
        #expect(store.send("GET", "/v1/devices/d0").status == 503)
        #expect(store.server.failure?.contains("was removed") == true)
        #expect(await store.log.wait(for: "registry.check.failed", count: 2))
        #expect(store.server.failure?.contains("start them again") == true)
        try FileManager.default.moveItem(atPath: store.path + ".aside", toPath: store.path)
        try await eventually("the server to be well") { store.server.failure == nil }
        #expect(store.putDevice(1).status == 201)
    }

    @Test("A file that was replaced is found without a request, and no request is served from the old one")
    func replacedFile() async throws {
        let store = try await ServedStore(lockMilliseconds: 50)
        #expect(store.putDevice(0).status == 201)
        _ = try SQLiteRegistry.open(path: store.path + ".new", mode: .create)
        #expect(rename(store.path + ".new", store.path) == 0)
        try await eventually("the server to be ill") { store.server.failure?.contains("replaced") == true }
        #expect(store.putDevice(1).status == 503)
        #expect(store.send("GET", "/v1/devices/d0").status == 503)
    }
}
