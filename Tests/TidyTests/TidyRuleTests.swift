import Testing

@Suite("The tidy rules see what they should")
struct TidyRuleTests {
    @Test("Comments and literals are blanked, code is not")
    func blankingKeepsCode() {
        let text = """
            let a = "try! \\(b(")")) x" // try!
            /* try! /* try! */ try! */ try! b()
            let c = #"a " try!"#
            """
        let blanked = SourceBlanker.blanked(text)
        #expect(blanked.ranges(of: "try!").count == 1)
        #expect(blanked.utf8.count == text.utf8.count)
        #expect(blanked.contains("let c ="))
    }

    @Test("Literals of several lines are blanked line by line")
    func blankingKeepsLines() {
        let text = "let a = \"\"\"\n    try! \" x\n    \"\"\"\ntry! b()"
        let lines = SourceText(path: "Sources/A/B.swift", text: text).codeLines
        #expect(lines.map { $0.contains("try!") } == [false, false, false, true])
    }

    @Test("Imports are found with and without modifiers")
    func importsAreFound() {
        let text = """
            public import Alpha
            import struct Beta.Gamma
            @preconcurrency internal import Delta
            // import Epsilon
            let text = "import Zeta"
            """
        #expect(SourceText(path: "Sources/A/B.swift", text: text).imports == ["Alpha", "Beta", "Delta"])
    }

    @Test("A function is measured from its keyword to its closing brace")
    func functionsAreMeasured() {
        let text = """
            protocol P {
                func requirement()
                func other() -> Int
            }
            struct S {
                init(
                    a: Int
                ) {
                    use(a)
                }
                static func long() {
                    if x {
                    }
                }
            }
            """
        let extents = FunctionExtent.all(in: SourceText(path: "Sources/A/S.swift", text: text).codeLines)
        #expect(extents.map(\.firstLine) == [5, 10])
        #expect(extents.map(\.lineCount) == [5, 4])
    }

    @Test("Types of the top level are found by their names")
    func typesAreFound() {
        let text = """
            public struct Alpha<T>: Sendable {
                struct Nested {}
            }
            private final class Beta {}
            extension Alpha: Equatable {}
            func structure(class: Int) {}
            """
        let types = DeclaredType.all(in: SourceText(path: "Sources/A/Alpha.swift", text: text).codeLines)
        #expect(types.map(\.name) == ["Alpha", "Beta", "Alpha"])
        #expect(types.map(\.isPublic) == [true, false, false])
    }
}
