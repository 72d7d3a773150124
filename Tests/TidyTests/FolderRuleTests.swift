import Testing

@Suite("The folders of a target")
struct FolderRuleTests {
    /// One folder of a target: its types, and the words of its code.
    private struct Folder {
        var types: Set<Substring> = []
        var words: Set<Substring> = []
        /// The types that its types hold, which may have a name of another folder's type.
        var nested: Set<Substring> = []
    }

    /// The root of a target is its face: it knows the folders, and they may know it.
    @Test("No folders of a target use each other in a circle")
    func noCircles() {
        for (target, files) in Dictionary(grouping: Repository.sources, by: \.target) {
            let folders = Self.folders(of: files)
            var uses: [String: Set<String>] = [:]
            for (name, folder) in folders {
                let foreign = folder.words.subtracting(folder.types).subtracting(folder.nested)
                uses[name] = Set(folders.filter { $0.key != name && !$0.value.types.isDisjoint(with: foreign) }.keys)
            }
            // Circles remain when folders that use none of the others have been taken away again and again.
            while let free = uses.first(where: { $0.value.isEmpty })?.key {
                uses[free] = nil
                for name in uses.keys { uses[name]?.remove(free) }
            }
            #expect(uses.isEmpty, "\(target): \(uses.mapValues { $0.sorted() }.sorted { $0.key < $1.key })")
        }
    }

    private static func folders(of files: [SourceText]) -> [String: Folder] {
        var folders: [String: Folder] = [:]
        for file in files {
            let name = file.folder
            guard !name.isEmpty else { continue }
            var folder = folders[name] ?? Folder()
            for type in DeclaredType.all(in: file.codeLines) where !type.isExtension {
                folder.types.insert(Substring(type.name))
            }
            let nested = file.codeLines.filter { $0.hasPrefix(" ") }.map { $0.drop { $0 == " " } }
            for type in DeclaredType.all(in: nested) where !type.isExtension {
                folder.nested.insert(Substring(type.name))
            }
            for line in file.codeLines {
                let words = line.split { !($0.isLetter || $0.isNumber || $0 == "_") }
                folder.words.formUnion(words.filter { $0.first?.isUppercase == true })
            }
            folders[name] = folder
        }
        return folders
    }
}
