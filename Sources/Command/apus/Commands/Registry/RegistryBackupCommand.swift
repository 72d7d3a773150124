import EventLoop
import RegistryCore
import SQLiteRegistry
import WorkerConfiguration

/// `apus registry backup`.
struct RegistryBackupCommand: Command {
    let name = "backup"
    let summary = "Copy an SQLite registry into a file while it is in use"
    let help = CommandHelp(
        discussion: """
            Copies the registry of registry.url as it is at one moment. Workers and servers go on
            meanwhile. The copy is complete, checked and on the disk when the command ends with
            0, and only its owner may read it. FILE must not exist.

            To restore: stop all that uses the registry, move its files (registry.db, and those
            ending in -wal and -shm) away, copy FILE to the place of registry.db, start again.
            'deploy/backup.md' says what is out of date then.

            A registry in PostgreSQL is backed up with its own tools:
              pg_dump --schema=apus --format=custom --file=FILE DATABASE
            """,
        examples: [
            .init("apus registry backup /backup/registry-$(date +%F).db", "Makes the backup of a day."),
            .init("apus registry backup FILE --json", "Prints size, devices and duration as JSON."),
        ],
        exitCodes: DeviceRegistry.exitCodes
    )
    let options = [CommandOption.json] + CommandOption.configuration
    let operands = Operands.exactly(["FILE"])

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let configuration = try invocation.loadConfiguration(for: .tool).configuration
        guard case .sqlite(let path) = configuration.registry else {
            throw CommandFailure.usage(
                "registry.url is a PostgreSQL database: use pg_dump --schema=apus --format=custom --file=FILE DATABASE")
        }
        let file = invocation.operands[0]
        let start = MonotonicClock.nowNanoseconds()
        let (bytes, devices) = try DeviceRegistry.rephrasing {
            let bytes = try SQLiteRegistry.open(path: path, mode: .existing).backUp(to: file)
            return (bytes, try SQLiteRegistry.open(path: file, mode: .readOnly).deviceCount())
        }
        let seconds = Double(MonotonicClock.nowNanoseconds() - start) / 1e9
        let kibibytes = (bytes + 1_023) / 1_024
        invocation.show(
            ["file": file, "sizeBytes": bytes, "devices": devices, "durationSeconds": seconds],
            "\(path) copied to \(file): \(devices) \(devices == 1 ? "device" : "devices"), \(kibibytes) KiB, "
                + "\(Int((seconds * 1_000).rounded())) ms")
        return .ok
    }
}
