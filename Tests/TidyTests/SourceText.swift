/// One Swift file as lines, once as written and once with what a rule about code must not see taken out.
struct SourceText {
    /// The path below the repository's root.
    let path: String

    /// The lines as they were written.
    let lines: [Substring]

    /// The same lines with the contents of comments and string literals blanked out, column for column.
    let codeLines: [Substring]

    /// How many lines there are, as `wc -l` counts them: behind the last line break is none.
    var lineCount: Int { lines.count - 1 }

    init(path: String, text: String) {
        self.path = path
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        codeLines = SourceBlanker.blanked(text).split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// The target that the file belongs to: the folder below that of its ring; empty for a file of no ring.
    var target: String {
        String(placeOfTarget.target)
    }

    /// The folder of the file in its target; empty for the target's root, and for a file of no ring.
    var folder: String {
        path.split(separator: "/").dropFirst(placeOfTarget.depth).dropLast().joined(separator: "/")
    }

    /// The target, and how many folders the path has down to it.
    private var placeOfTarget: (target: Substring, depth: Int) {
        let parts = path.split(separator: "/")
        guard parts.count > 3, Ring(rawValue: String(parts[1])) != nil else { return ("", parts.count) }
        return Ring.groups.contains(String(parts[2])) && parts.count > 4 ? (parts[3], 4) : (parts[2], 3)
    }

    /// The target of the test kit that the file belongs to; nil for a file elsewhere, and for the kit's own tests.
    var kitTarget: String? {
        let parts = path.split(separator: "/")
        guard parts.count > 3, parts[0] == "Tests", parts[1] == "Kit", !parts[2].hasSuffix("Tests") else { return nil }
        return String(parts[2])
    }

    /// The file's name without folders and without `.swift`.
    var name: String {
        let file = path.split(separator: "/").last ?? ""
        return String(file.dropLast(".swift".count))
    }

    /// The modules that the file imports, in order.
    var imports: [String] {
        codeLines.compactMap { line -> String? in
            let words = line.split(separator: " ").filter { !$0.hasPrefix("@") }
            guard let keyword = words.firstIndex(of: "import"), words.prefix(upTo: keyword).allSatisfy(Self.isModifier)
            else {
                return nil
            }
            let rest = words.suffix(from: words.index(after: keyword)).filter { !Self.importKinds.contains($0) }
            return rest.first.map { String($0.prefix { $0 != "." }) }
        }
    }

    /// Says where a line is, the way compilers do.
    ///
    /// - Parameter index: Index of the line, counted from 0.
    /// - Returns: `path:line`, counted from 1.
    func place(_ index: Int) -> String {
        "\(path):\(index + 1)"
    }

    private static let importKinds: Set<Substring> = [
        "struct", "class", "enum", "protocol", "func", "var", "typealias",
    ]

    private static func isModifier(_ word: Substring) -> Bool {
        ["public", "package", "internal", "fileprivate", "private"].contains(word)
    }
}
