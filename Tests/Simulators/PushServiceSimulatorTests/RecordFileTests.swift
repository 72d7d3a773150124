import Foundation
import PushTestKit
import Testing

@testable import PushServiceSimulator

@Suite("The file of records")
struct RecordFileTests {
    @Test("A file is emptied at first, or added to, and several writers do not overwrite each other")
    func opens() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("records.ndjson", "old\n")
        let first = try RecordFile(path: path, appends: true)
        #expect(first.append(Array("a\n".utf8)))
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "old\na\n")
        let second = try RecordFile(path: path, appends: false)
        let third = try RecordFile(path: path, appends: true)
        for (file, line) in [(second, "b\n"), (first, "c\n"), (third, "d\n"), (second, "e\n")] {
            #expect(file.append(Array(line.utf8)))
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "b\nc\nd\ne\n")
    }

    @Test("A path that cannot be written is named with the system's reason")
    func refuses() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/missing/records.ndjson"
        let error = #expect(throws: SimulatorError.self) { _ = try RecordFile(path: path, appends: true) }
        #expect(error?.code == .fileFailed && error?.message.contains("No such file") == true)
    }
}
