import Testing

@testable import PushTestKit

@Suite("Programs with pipes")
struct SupervisedProcessTests {
    /// Starts a program that lists what it has open.
    ///
    /// - Returns: its standard streams, and all else; the system's names, which no two pipes share.
    private func openDescriptors() async throws -> (streams: Set<String>, others: Set<String>) {
        let result = try await SupervisedProcess.run(["/bin/ls", "-l", "/proc/self/fd"], environment: [:])
        var descriptors: (streams: Set<String>, others: Set<String>) = ([], [])
        for line in result.output.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            guard words.count > 3, words[words.count - 2] == "->", let name = words.last else { continue }
            if ["0", "1", "2"].contains(words[words.count - 3]) {
                descriptors.streams.insert(name)
            } else {
                descriptors.others.insert(name)
            }
        }
        return descriptors
    }

    /// An end that a stranger holds keeps a program from seeing that we are gone, and us from seeing that it is.
    @Test("Programs that are started at the same moment have no ends of each other's pipes")
    func inheritsNothing() async throws {
        try await withThrowingTaskGroup(of: [(streams: Set<String>, others: Set<String>)].self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var programs: [(streams: Set<String>, others: Set<String>)] = []
                    for _ in 0..<100 { programs.append(try await openDescriptors()) }
                    return programs
                }
            }
            let programs = try await group.reduce(into: []) { $0 += $1 }
            let streams = programs.reduce(into: Set<String>()) { $0.formUnion($1.streams) }
            #expect(programs.count == 800 && streams.count > 800)
            let strangers = programs.filter { !$0.others.isDisjoint(with: streams) }
            #expect(strangers.isEmpty, "\(strangers.count) programs have ends of others' pipes")
        }
    }
}
