import Testing

@Suite("Sizes that a reader can take in")
struct SizeRuleTests {
    private static let lineLengthMaximum = 120
    private static let fileLinesMaximum = 500
    private static let functionLinesMaximum = 70

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
            #expect(file.lines.count <= Self.fileLinesMaximum, "\(file.path) has \(file.lines.count) lines")
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

    @Test("A file is named after the type that it declares or extends")
    func filesAreNamedAfterTheirType() {
        for file in Repository.sources where file.name != "Placeholder" {
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
