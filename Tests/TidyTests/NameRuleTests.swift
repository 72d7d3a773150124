import Testing

@Suite("The names of types")
struct NameRuleTests {
    /// A file that imports both targets would have to write the target before the name.
    @Test("No two targets have a public type of the same name")
    func publicNamesAreUnique() {
        for (name, targets) in Self.homes(of: Repository.sources + Repository.kit) where targets.count > 1 {
            Issue.record(
                "\(targets.sorted().joined(separator: " and ")) have a public type \(name): rename one of them")
        }
    }

    @Test("Only public types at the top level can collide, and a target does not collide with itself")
    func onlyPublicTypesCollide() {
        let files = [
            SourceText(path: "Sources/Core/A/One.swift", text: "public struct One {\n    public enum Kind {}\n}"),
            SourceText(path: "Sources/Core/A/One+B.swift", text: "extension One {}\npublic struct Two {}"),
            SourceText(path: "Sources/Core/B/Kind.swift", text: "public enum Kind {}\nstruct Two {}"),
            SourceText(path: "Sources/Adapters/HTTP/C/One.swift", text: "package final class One {}"),
        ]
        #expect(Self.homes(of: files) == ["One": ["A", "C"], "Two": ["A"], "Kind": ["B"]])
    }

    /// The targets that declare a public type, by its name.
    private static func homes(of files: [SourceText]) -> [String: Set<String>] {
        var homes: [String: Set<String>] = [:]
        for file in files {
            for type in DeclaredType.all(in: file.codeLines) where type.isPublic && !type.isExtension {
                homes[type.name, default: []].insert(file.kitTarget ?? file.target)
            }
        }
        return homes
    }
}
