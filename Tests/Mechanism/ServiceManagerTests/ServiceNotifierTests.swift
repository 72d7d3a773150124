import EventLoop
import Foundation
import Glibc
import PushTestKit
import Testing

@testable import ServiceManager

@Suite("The notifications of a service")
struct ServiceNotifierTests {
    private static let ready = ServiceObservation(isStarted: true, isAlive: true, status: "ready")

    private static func settings(_ path: String, watchdog: String? = nil) throws -> ServiceManagerSettings {
        var environment = ["NOTIFY_SOCKET": path]
        environment["WATCHDOG_USEC"] = watchdog
        return try #require(try ServiceManagerSettings(environment: environment, processID: 1))
    }

    @Test("The environment says where to send, and whose watchdog it is")
    func environment() throws {
        func read(_ environment: [String: String]) throws -> ServiceManagerSettings? {
            try ServiceManagerSettings(environment: environment, processID: 12)
        }
        #expect(try read([:]) == nil)
        #expect(try read(["NOTIFY_SOCKET": "", "WATCHDOG_USEC": "5"]) == nil)
        #expect(try read(["NOTIFY_SOCKET": "/run/systemd/notify"])?.watchdogMicroseconds == nil)
        let watched = ["NOTIFY_SOCKET": "@abstract", "WATCHDOG_USEC": "5"]
        #expect(try read(watched)?.watchdogMicroseconds == 5)
        #expect(try read(watched.merging(["WATCHDOG_PID": "12"]) { $1 })?.watchdogMicroseconds == 5)
        #expect(try read(watched.merging(["WATCHDOG_PID": "13"]) { $1 })?.watchdogMicroseconds == nil)
    }

    @Test(
        "A variable that makes no sense is refused with its value",
        arguments: [
            ["NOTIFY_SOCKET": "notify"], ["NOTIFY_SOCKET": "vsock:2:1234"], ["NOTIFY_SOCKET": "/"],
            ["NOTIFY_SOCKET": "/" + String(repeating: "a", count: 107)],
            ["NOTIFY_SOCKET": "/run/notify", "WATCHDOG_USEC": "soon"],
            ["NOTIFY_SOCKET": "/run/notify", "WATCHDOG_USEC": "0"],
            ["NOTIFY_SOCKET": "/run/notify", "WATCHDOG_USEC": "18446744073709551615"],
        ])
    func badEnvironment(environment: [String: String]) throws {
        let error = #expect(throws: ServiceManagerSettings.Failure.self) {
            try ServiceManagerSettings(environment: environment, processID: 1)
        }
        let value = environment["WATCHDOG_USEC"] ?? environment["NOTIFY_SOCKET"] ?? ""
        #expect(try #require(error).description.contains("\"\(value)\""))
    }

    @Test("Signs of life follow each other while the loop turns, by a path and by an abstract name")
    func signsOfLife() async throws {
        let folder = try TemporaryFolder()
        for path in [folder.path + "/notify", "@apus-test-\(getpid())-\(UInt64.random(in: 0 ... .max))"] {
            let receiver = try NotificationReceiver(at: path)
            let loop = try EventLoop(name: "test")
            let notifier = ServiceNotifier(try Self.settings(path, watchdog: "20000"), loop: loop) { reason in
                Issue.record("\(reason)")
            }
            notifier.observe { Self.ready }
            let lines = try await receiver.wait(for: "five signs of life") {
                $0.count { $0 == "WATCHDOG=1" } >= 5
            }
            #expect(lines.prefix(3) == ["READY=1", "STATUS=ready", "WATCHDOG=1"])
            #expect(Set(lines.dropFirst(3)) == ["WATCHDOG=1"])
            loop.stopAndJoin()
        }
    }

    @Test("A reload that runs on the loop lies between its two notifications")
    func reload() async throws {
        let folder = try TemporaryFolder()
        let receiver = try NotificationReceiver(at: folder.path + "/notify")
        let loop = try EventLoop(name: "test")
        let notifier = ServiceNotifier(try Self.settings(receiver.path), loop: loop) { reason in
            Issue.record("\(reason)")
        }
        notifier.observe { Self.ready }
        try await receiver.wait(for: "READY=1")
        let during = try await loop.run {
            notifier.reloadBegan()
            defer { notifier.reloadEnded() }
            return receiver.lines
        }
        #expect(during.dropFirst(2).first == "RELOADING=1")
        #expect(during.count == 4)
        #expect(receiver.lines.last == "READY=1")
        notifier.stopBegan()
        try await receiver.wait(for: "STOPPING=1")
        loop.stopAndJoin()
    }

    @Test("A service manager that does not read gets the first datagrams in their order when it reads again")
    func slowReader() async throws {
        let folder = try TemporaryFolder()
        let receiver = try NotificationReceiver(at: folder.path + "/notify")
        let loop = try EventLoop(name: "test")
        let notifier = ServiceNotifier(try Self.settings(receiver.path), loop: loop) { reason in
            Issue.record("\(reason)")
        }
        notifier.observe { Self.ready }
        // More than the queue of a datagram socket takes, which is `net.unix.max_dgram_qlen`.
        for _ in 0..<1_000 {
            notifier.reloadBegan()
            notifier.reloadEnded()
        }
        try await loop.run {}
        let first = receiver.lines
        #expect(first.prefix(4).map { $0.prefix(10) } == ["READY=1", "STATUS=rea", "RELOADING=", "MONOTONIC_"])
        try await receiver.wait(for: "the datagrams that waited") { $0.count > first.count }
        loop.stopAndJoin()
    }

    @Test("Signs of life that are not read take the place of no reload and no stop")
    func unreadSignsOfLife() async throws {
        let folder = try TemporaryFolder()
        let receiver = try NotificationReceiver(at: folder.path + "/notify")
        let loop = try EventLoop(name: "test")
        let notifier = ServiceNotifier(try Self.settings(receiver.path, watchdog: "2000"), loop: loop) { reason in
            Issue.record("\(reason)")
        }
        let looks = Watched(0)
        notifier.observe {
            looks.update { $0 += 1 }
            return Self.ready
        }
        // More than the queue of the socket and the notifier hold.
        let queue = try String(contentsOfFile: "/proc/sys/net/unix/max_dgram_qlen", encoding: .utf8)
        let queueLength = try #require(Int(queue.split(separator: "\n").first ?? ""))
        #expect(await looks.wait { $0 > queueLength + 100 })
        notifier.reloadBegan()
        notifier.reloadEnded()
        notifier.stopBegan()
        try await receiver.wait(for: "STOPPING=1")
        #expect(receiver.milestones == ["READY=1", "RELOADING=1", "READY=1", "STOPPING=1"])
        loop.stopAndJoin()
    }

    @Test("A socket that nobody reads is told once")
    func noReader() async throws {
        let folder = try TemporaryFolder()
        let loop = try EventLoop(name: "test")
        let reasons = Watched<[String]>([])
        let notifier = ServiceNotifier(
            try Self.settings(folder.path + "/missing", watchdog: "2000"), loop: loop
        ) { reason in
            reasons.update { $0.append(reason) }
        }
        let looks = Watched(0)
        notifier.observe {
            looks.update { $0 += 1 }
            return Self.ready
        }
        #expect(await looks.wait { $0 >= 10 })
        #expect(reasons.value == ["No such file or directory"])
        loop.stopAndJoin()
    }

    @Test("Without a service manager nothing is looked at")
    func nobody() async throws {
        let loop = try EventLoop(name: "test")
        let notifier = ServiceNotifier(nil, loop: loop) { reason in Issue.record("\(reason)") }
        notifier.observe {
            Issue.record("the service was looked at")
            return Self.ready
        }
        notifier.reloadBegan()
        notifier.reloadEnded()
        notifier.stopBegan()
        try await loop.run {}
        loop.stopAndJoin()
    }
}
