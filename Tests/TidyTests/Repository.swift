import Foundation

/// The files of this repository, read from the folder that the tests were compiled in.
enum Repository {
    /// The folder that holds `Package.swift`.
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Every Swift file of the package, tests included.
    static let swiftFiles: [SourceText] = sources(below: ["Sources", "Tests", "Benchmarks/Sources"])

    /// The Swift files that are part of a product.
    static var sources: [SourceText] {
        swiftFiles.filter { $0.path.hasPrefix("Sources/") }
    }

    /// The Swift files of the test targets and of the programs that test.
    static var tests: [SourceText] {
        swiftFiles.filter { $0.path.hasPrefix("Tests/") && $0.kitTarget == nil }
    }

    /// The Swift files of the test kit.
    static var kit: [SourceText] {
        swiftFiles.filter { $0.kitTarget != nil }
    }

    /// The Swift files of the benchmarks.
    static var benchmarks: [SourceText] {
        swiftFiles.filter { $0.path.hasPrefix("Benchmarks/") }
    }

    /// The paths of all files below a folder, sorted; hidden folders and build products are left out.
    ///
    /// - Parameter folder: A path below the root; empty for the root itself.
    /// - Returns: Paths below the root.
    static func paths(below folder: String) -> [String] {
        let base = folder.isEmpty ? root : root.appendingPathComponent(folder)
        guard let walk = FileManager.default.enumerator(atPath: base.path) else {
            return []
        }
        var paths: [String] = []
        for case let path as String in walk {
            let name = path.split(separator: "/").last ?? ""
            if name.hasPrefix(".") && name != ".ci" {
                walk.skipDescendants()
            } else {
                paths.append(folder.isEmpty ? path : "\(folder)/\(path)")
            }
        }
        return paths.sorted()
    }

    /// Reads a file.
    ///
    /// - Parameter path: A path below the root.
    /// - Returns: Its text, or nil for a folder or a file that is not UTF-8.
    static func text(_ path: String) -> String? {
        try? String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    private static func sources(below folders: [String]) -> [SourceText] {
        folders.flatMap(paths(below:)).filter { $0.hasSuffix(".swift") }.compactMap { path in
            text(path).map { SourceText(path: path, text: $0) }
        }
    }
}
