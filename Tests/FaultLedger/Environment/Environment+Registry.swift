import Glibc
import PushTestKit
import Synchronization

extension Environment {
    /// Keeps all other connections from writing the SQLite file, as a long transaction of another program does.
    func lockRegistry(seconds: Double) async throws {
        let lock = try RegistryLock(path: "\(folder.path)/registry.db")
        defer { lock.release() }
        try await Pause.seconds(seconds)
    }

    /// Makes calls of the workers fail while a switch is on; for `prepare`, the switch begins as off.
    func equipWorkers(with fault: CallFault) {
        let variables = fault.environment(report: "\(folder.path)/calls", whileThereIs: switchPath)
        state.withLock { $0.workerEnvironment = variables }
    }

    private var switchPath: String { "\(folder.path)/switch" }

    /// Lets the calls fail that the workers are equipped with, for some seconds.
    ///
    /// - Returns: how many failed.
    @discardableResult
    func failCalls(seconds: Double) async throws -> Int {
        try folder.write("switch", "")
        try await Pause.seconds(seconds)
        unlink(switchPath)
        return ((try? folder.read("calls")) ?? "").split(separator: "\n").count
    }

    /// Puts a standby beside the database; for `prepare`.
    @discardableResult
    func startStandby() async throws -> PrivatePostgreSQL {
        let standby = try await database.startStandby()
        state.withLock { $0.standby = standby }
        atEnd { standby.stop() }
        return standby
    }

    /// Puts a standby beside the database, and names both to the workers; for `prepare`.
    func addStandby() async throws {
        let standby = try await startStandby()
        let port = try database.port
        addresses.registryURL =
            addresses.registryURL.replacing(":\(port)/", with: ":\(port),127.0.0.1:\(standby.port)/")
    }

    /// Puts a pooler between the workers and the database; for `prepare`.
    func putPooler(_ mode: PrivatePgBouncer.Mode) async throws {
        let pooler = try await PrivatePgBouncer.start(before: database, mode: mode, sessions: 30)
        state.withLock { $0.pooler = pooler }
        atEnd { pooler.stop() }
        addresses.registryURL =
            addresses.registryURL.replacing(":\(try database.port)/", with: ":\(pooler.port)/")
    }

    /// The pooler before the database.
    var pooler: PrivatePgBouncer { get throws { try part("pooler", \.pooler) } }

    /// The standby of the database.
    var standby: PrivatePostgreSQL { get throws { try part("standby", \.standby) } }
}
