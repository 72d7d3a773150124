import Testing

@testable import ServiceManager

@Suite("What a service manager is told")
struct ServiceNotificationMachineTests {
    private static let second: UInt64 = 1_000_000_000
    private static let waiting = ServiceObservation(isStarted: true, isAlive: true, status: "not ready: source")
    private static let ready = ServiceObservation(isStarted: true, isAlive: true, status: "ready")
    private static let starting = ServiceObservation(isStarted: false, isAlive: true, status: "reads")
    private static let hanging = ServiceObservation(isStarted: true, isAlive: false, status: "loop hangs")

    private static let extends = "EXTEND_TIMEOUT_USEC=\(ServiceNotificationMachine.extensionMicroseconds)"

    @Test("A start is ready once; a service that waits for others has started, and says so")
    func readiness() {
        var machine = ServiceNotificationMachine(watchdogMicroseconds: nil)
        #expect(machine.observed(Self.waiting, at: 1) == "READY=1\nSTATUS=not ready: source")
        #expect(machine.observed(Self.waiting, at: 2) == nil)
        #expect(machine.observed(Self.ready, at: 3) == "STATUS=ready")
        #expect(machine.observed(Self.ready, at: 4) == nil)
    }

    @Test("A long start asks for more time every five seconds until it is done")
    func longStart() {
        var machine = ServiceNotificationMachine(watchdogMicroseconds: nil)
        #expect(machine.observed(Self.starting, at: 0) == "STATUS=reads\n\(Self.extends)")
        #expect(machine.observed(Self.starting, at: 4 * Self.second) == nil)
        #expect(machine.observed(Self.starting, at: 5 * Self.second) == Self.extends)
        #expect(machine.observed(Self.ready, at: 10 * Self.second) == "READY=1\nSTATUS=ready")
        #expect(machine.observed(Self.ready, at: 20 * Self.second) == nil)
    }

    @Test("A sign of life goes out at half of the watchdog's time")
    func signsOfLife() {
        var machine = ServiceNotificationMachine(watchdogMicroseconds: 20_000_000)
        #expect(machine.intervalNanoseconds == Self.second)
        #expect(machine.observed(Self.ready, at: 0) == "READY=1\nSTATUS=ready\nWATCHDOG=1")
        #expect(machine.observed(Self.ready, at: 9 * Self.second) == nil)
        #expect(machine.observed(Self.ready, at: 10 * Self.second) == "WATCHDOG=1")
        #expect(machine.observed(Self.ready, at: 19 * Self.second) == nil)
    }

    @Test("A service is looked at as often as a short watchdog needs it")
    func shortWatchdog() {
        #expect(ServiceNotificationMachine(watchdogMicroseconds: 400_000).intervalNanoseconds == 200_000_000)
        #expect(ServiceNotificationMachine(watchdogMicroseconds: 1).intervalNanoseconds == 1_000)
    }

    @Test("A service that hangs gives no sign of life and asks for no time, until it turns again")
    func hang() {
        var machine = ServiceNotificationMachine(watchdogMicroseconds: 2_000_000)
        _ = machine.observed(Self.ready, at: 0)
        #expect(machine.observed(Self.hanging, at: 5 * Self.second) == "STATUS=loop hangs")
        #expect(machine.observed(Self.hanging, at: 50 * Self.second) == nil)
        #expect(machine.observed(Self.ready, at: 51 * Self.second) == "STATUS=ready\nWATCHDOG=1")
        #expect(machine.stopBegan() == "STOPPING=1")
        #expect(machine.observed(Self.hanging, at: 52 * Self.second) == "STATUS=loop hangs")
    }

    @Test("A reload is announced with the time at which it began, and its end is told")
    func reload() {
        var machine = ServiceNotificationMachine(watchdogMicroseconds: nil)
        _ = machine.observed(Self.ready, at: 0)
        #expect(machine.reloadBegan(at: 7_000_999) == "RELOADING=1\nMONOTONIC_USEC=7000")
        #expect(machine.observed(Self.ready, at: Self.second) == nil)
        #expect(machine.reloadEnded() == "READY=1")
        #expect(machine.reloadEnded() == nil)
    }

    @Test("A reload is no news before the service has started and while it stops")
    func reloadAtOtherTimes() {
        var machine = ServiceNotificationMachine(watchdogMicroseconds: nil)
        _ = machine.observed(Self.starting, at: 0)
        #expect(machine.reloadBegan(at: 1) == nil)
        #expect(machine.reloadEnded() == nil)
        _ = machine.stopBegan()
        #expect(machine.reloadBegan(at: 2) == nil)
        #expect(machine.reloadEnded() == nil)
    }

    @Test("A long stop asks for more time at once and every five seconds, and is never ready")
    func longStop() {
        var machine = ServiceNotificationMachine(watchdogMicroseconds: nil)
        _ = machine.observed(Self.starting, at: 0)
        #expect(machine.stopBegan() == "STOPPING=1")
        #expect(machine.stopBegan() == nil)
        #expect(machine.observed(Self.waiting, at: 1) == "STATUS=not ready: source\n\(Self.extends)")
        #expect(machine.observed(Self.waiting, at: 4 * Self.second) == nil)
        #expect(machine.observed(Self.ready, at: 6 * Self.second) == "STATUS=ready\n\(Self.extends)")
    }

    @Test("A status is one line of bounded length, so that no reason becomes a variable")
    func statusIsALine() throws {
        var machine = ServiceNotificationMachine(watchdogMicroseconds: nil)
        let reason = "one\nREADY=0\r\ntwo\0three"
        let first = machine.observed(.init(isStarted: true, isAlive: true, status: reason), at: 0)
        #expect(first == "READY=1\nSTATUS=one READY=0 two three")
        let long = String(repeating: "ä", count: 1_000)
        let told = machine.observed(.init(isStarted: true, isAlive: true, status: long), at: 1)
        let second = try #require(told)
        #expect(second.count == "STATUS=".count + ServiceNotificationMachine.statusLengthMaximum)
        #expect(second.hasSuffix("ä…"))
    }
}
