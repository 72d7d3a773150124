import Testing

@Suite("Sizes that a reader can take in")
struct SizeRuleTests {
    private static let lineLengthMaximum = 120
    private static let fileLinesMaximum = 500
    private static let functionLinesMaximum = 70
    /// A file below this is worth opening only for a reason: a port, or a value that is used in many places.
    private static let smallFileLines = 25
    private static let filesPerSmallFile = 20
    private static let medianLinesMinimum = 60

    @Test("No line is longer than 120 columns")
    func linesAreShort() {
        for file in Repository.swiftFiles {
            for (index, line) in file.lines.enumerated() {
                #expect(line.count <= Self.lineLengthMaximum, "\(file.place(index)) has \(line.count) columns")
            }
        }
    }

    @Test("No file is longer than 500 lines, state machines excepted")
    func filesAreShort() {
        for file in Repository.swiftFiles where !file.name.contains("StateMachine") {
            #expect(file.lineCount <= Self.fileLinesMaximum, "\(file.path) has \(file.lineCount) lines")
        }
    }

    @Test("No function is longer than 70 lines")
    func functionsAreShort() {
        for file in Repository.swiftFiles {
            for function in FunctionExtent.all(in: file.codeLines) {
                #expect(
                    function.lineCount <= Self.functionLinesMaximum,
                    "\(file.place(function.firstLine)) begins a function of \(function.lineCount) lines")
            }
        }
    }

    @Test("In each ring at most one file in twenty has under 25 lines, and half have 60 or more")
    func filesAreFull() {
        let rings = Dictionary(grouping: Repository.swiftFiles) { file in
            file.path.split(separator: "/").prefix(file.path.hasPrefix("Sources/") ? 2 : 1).joined(separator: "/")
        }
        for (ring, files) in rings {
            let small = files.filter { $0.lineCount < Self.smallFileLines }.map(\.path)
            #expect(
                small.count <= files.count / Self.filesPerSmallFile, "\(ring) has \(small.count) small files: \(small)")
            let median = files.map(\.lineCount).sorted()[files.count / 2]
            #expect(median >= Self.medianLinesMinimum, "\(ring): half of the files have less than \(median) lines")
        }
    }

    @Test("A file is named after the type that it declares or extends")
    func filesAreNamedAfterTheirType() {
        for file in Repository.sources + Repository.kit where file.name != "Placeholder" {
            let type = String(file.name.prefix { $0 != "+" })
            let declares = DeclaredType.all(in: file.codeLines).contains { $0.name == type }
            #expect(declares, "\(file.path) neither declares nor extends a type \(type)")
        }
    }

    @Test("No file is there only to hold a place")
    func noPlaceholders() {
        for file in Repository.swiftFiles {
            #expect(file.name != "Placeholder", "\(file.path) can go")
        }
    }
}
