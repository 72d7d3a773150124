import Testing

/// How many files a change of one kind takes, counted by a representative that exists.
@Suite("A change stays in few files")
struct ChangeSpreadTests {
    /// A new service needs two of them not: `CognitoCall.swift`, and `RequestedPush+Decoding.swift` for what differs.
    @Test("Code names a push service in at most twelve files beside its own")
    func pushService() {
        let files = Self.files { $0.contains(#/ADM|\badm(?![a-z])/#) }.filter { !$0.contains("ADM") }
        #expect((1...12).contains(files.count), "\(files.joined(separator: "\n"))")
    }

    @Test("Code names a key of aps in at most eight files", arguments: ["filterCriteria", "relevanceScore"])
    func payloadKey(name: String) {
        let files = Self.files { $0.contains(name) }
        #expect((1...8).contains(files.count), "\(files.joined(separator: "\n"))")
    }

    /// The paths of the sources in whose code a line matches; comments and texts do not count.
    private static func files(matching matches: (Substring) -> Bool) -> [String] {
        Repository.sources.filter { $0.codeLines.contains(where: matches) }.map(\.path)
    }
}
