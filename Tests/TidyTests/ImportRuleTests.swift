import Testing

@Suite("Imports point one way")
struct ImportRuleTests {
    @Test("Every file below Sources belongs to a target of a ring")
    func everyFileHasARing() {
        for file in Repository.sources {
            #expect(Ring.of(file.target) != nil, "\(file.path) lies in no folder that Ring.swift names")
        }
    }

    @Test("A target imports only targets of the rings inside its own")
    func importsPointInwards() {
        for (file, imported) in projectImports() {
            guard let own = Ring.of(file.target), let other = Ring.of(imported) else { continue }
            guard own != .simulators, other != .simulators else { continue }
            #expect(
                other < own || isMeantWithin(file.target, imported),
                "\(file.path) imports \(imported), which is not inside its ring")
        }
    }

    @Test("The core imports no C, no sockets, no threads and no Foundation")
    func coreIsPure() {
        for file in Repository.sources where Ring.of(file.target) == .core {
            for imported in file.imports {
                let isPure = Ring.of(imported) == .core || Ring.importsOfCore.contains(imported)
                #expect(isPure, "\(file.path) imports \(imported)")
            }
        }
    }

    @Test("Each C module is imported by exactly one Swift target")
    func oneImporterForEachCModule() {
        var importers: [String: Set<String>] = [:]
        for (file, imported) in projectImports() where Ring.of(imported) == .cLibraries {
            importers[imported, default: []].insert(file.target)
        }
        for (module, targets) in importers {
            #expect(targets.count == 1, "\(module) is imported by \(targets.sorted().joined(separator: ", "))")
        }
    }

    @Test("Only the command sees the simulators and the load generator")
    func workerDoesNotSeeSimulators() {
        for (file, imported) in projectImports() where Ring.of(imported) == .simulators && file.target != imported {
            let isMeant = file.target == "apus" || isMeantWithin(file.target, imported)
            #expect(isMeant, "\(file.path) imports \(imported)")
        }
    }

    @Test("Nothing below Sources sees the test kit")
    func sourcesDoNotSeeTheKit() {
        let targets = Set(Repository.kit.compactMap(\.kitTarget))
        #expect(targets.contains("PushTestKit"))
        for file in Repository.sources {
            let seen = targets.intersection(file.imports)
            #expect(seen.isEmpty, "\(file.path) imports \(seen.sorted().joined(separator: ", "))")
        }
    }

    @Test("The simulators import only the core and the mechanism")
    func simulatorsStayBelowTheAdapters() {
        for (file, imported) in projectImports() where Ring.of(file.target) == .simulators {
            let ring = Ring.of(imported)
            let isMeant = ring == .core || ring == .mechanism || isMeantWithin(file.target, imported)
            #expect(isMeant, "\(file.path) imports \(imported)")
        }
    }

    @Test("The library for apps imports Foundation alone, so that it also builds where the libraries of Linux are not")
    func appLibraryStandsAlone() throws {
        let files = Repository.sources.filter { $0.target == "ApusClient" }
        #expect(!files.isEmpty)
        for file in files {
            let others = Set(file.imports).subtracting(["Foundation", "FoundationNetworking"])
            #expect(others.isEmpty, "\(file.path) imports \(others.sorted().joined(separator: ", "))")
            // Only Foundation of Linux has its network in a module of its own.
            for (index, line) in file.codeLines.enumerated() where line.hasSuffix("import FoundationNetworking") {
                let condition = file.codeLines[max(0, index - 1)]
                #expect(condition == "#if canImport(FoundationNetworking)", "\(file.place(index)) needs a condition")
            }
            for (index, line) in file.codeLines.enumerated() {
                #expect(!line.contains("os(Linux)"), "\(file.place(index)): write it for all systems alike")
            }
        }
        let package = try #require(Repository.text("Package.swift"))
        #expect(package.contains(#"swiftTarget("ApusClient", in: "Libraries", [])"#))
    }

    @Test("The test kit does not import the test framework")
    func testKitIsNoTest() {
        for file in Repository.sources + Repository.kit where file.kitTarget != "TestTraits" {
            let isFree = !file.imports.contains("Testing") && !file.imports.contains("XCTest")
            #expect(isFree, "\(file.path) imports a test framework, so nothing but tests could use it")
        }
    }

    private func isMeantWithin(_ target: String, _ imported: String) -> Bool {
        Ring.importsWithin[target, default: []].contains(imported)
    }

    /// Every import of a target of this package by a file below Sources.
    private func projectImports() -> [(file: SourceText, imported: String)] {
        Repository.sources.flatMap { file in
            file.imports.filter { Ring.of($0) != nil }.map { (file, $0) }
        }
    }
}
