import PushTestKit
import RegistryCore
import Testing

@testable import SQLiteRegistry

/// Tests of rows that another program may have written into the file.
struct EditedRowTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func rows(_ number: Int64) throws -> EditedRows {
        let registry = try SQLiteRegistry.open(path: folder.path + "/registry.db", mode: .create)
        return EditedRows(registry, number: number) { try registry.connection.execute($0) }
    }

    @Test("The least and the greatest number in a row stop nothing that reads it", arguments: [Int64.min, Int64.max])
    func extremes(_ number: Int64) throws { try rows(number).checkDevicesAndFanOuts(badge: number) }

    @Test(
        "The least and the greatest number in a row of a dead letter stop nothing that reads it",
        arguments: [Int64.min, Int64.max])
    func deadLetters(_ number: Int64) throws { try rows(number).checkDeadLetters() }

    @Test(
        "The least and the greatest number in a row of a chunk stop nothing that reads it",
        arguments: [Int64.min, Int64.max])
    func chunks(_ number: Int64) throws { try rows(number).checkChunks(bytes: "x'0102030405'") }
}
