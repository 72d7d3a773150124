import Foundation
import PushTestKit

/// Counts the instructions and allocations of a part, in a process of its own under valgrind.
///
/// valgrind runs a program on a processor that it makes up, so the count depends on the program, the libraries and the
/// work, and not on the machine. It shows all programs the same processor on every machine with AVX2. Clocks stand
/// still, so that no timer becomes due on a busy machine that does not on an idle one.
struct CallgrindRun {
    let part: InstructionPart
    /// This program, without what is only for debuggers, which valgrind 3.19 does not understand (`strippedProgram`).
    let program: String
    /// The file that `InstructionRegistry` has made.
    let registry: String

    /// Counts.
    ///
    /// - Returns: a figure for each that the part has.
    /// - Throws: `BenchmarkFailure` with what the process said if it failed.
    func figures() async throws -> [InstructionFigure] {
        let folder = try TemporaryFolder()
        let tool = [
            "--tool=callgrind", "--separate-threads=yes", "--dump-before=\(InstructionMark.function)",
            "--callgrind-out-file=\(folder.path)/callgrind",
        ]
        try await Self.run("/usr/bin/valgrind", tool + [program] + arguments, in: folder)
        let threads = try Self.secondMarks(FileManager.default.contentsOfDirectory(atPath: folder.path)).map { name in
            try CallgrindProfile(Data(contentsOf: URL(fileURLWithPath: "\(folder.path)/\(name)")))
        }
        let items = Double(part.counts.counted)
        return try part.figures.map { name, symbol in
            let counted = threads.filter { thread in symbol.map(thread.hasFunction) ?? true }
            guard !counted.isEmpty, symbol == nil || counted.count == 1 else {
                throw BenchmarkFailure(description: "\(name): \(counted.count) threads ran its functions, not one")
            }
            return InstructionFigure(
                part: name, instructions: Double(counted.map(\.instructions).reduce(0, +)) / items,
                allocations: Double(counted.map(\.allocations).reduce(0, +)) / items)
        }
    }

    /// Does the work without counting, to see that it can be done.
    func trial() async throws { try await Self.run(program, arguments, in: TemporaryFolder()) }

    /// Writes a copy of this program into a folder, without what is only for debuggers.
    ///
    /// - Returns: its path.
    static func strippedProgram(in folder: TemporaryFolder) async throws -> String {
        let copy = folder.path + "/instructions"
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        try await run("/usr/bin/strip", ["--strip-debug", "-o", copy, program], in: folder)
        return copy
    }

    /// The file that each thread has left at its second mark, which holds what was counted since its first.
    ///
    /// Files are called `callgrind.MARK-THREAD`, with one count of marks for all threads, and without it at the end.
    static func secondMarks(_ files: [String]) -> [String] {
        var marks: [Substring: [Int]] = [:]
        for file in files {
            guard let parts = file.wholeMatch(of: /callgrind\.([0-9]+)-([0-9]+)/), let mark = Int(parts.1) else {
                continue
            }
            marks[parts.2, default: []].append(mark)
        }
        return marks.sorted { $0.key < $1.key }.compactMap { thread, marks in
            marks.count > 1 ? "callgrind.\(marks.sorted()[1])-\(thread)" : nil
        }
    }

    private var arguments: [String] {
        (Scale.isSmall ? ["--small"] : []) + ["--instruction-part", part.rawValue, "--instruction-registry", registry]
    }

    private static func run(_ path: String, _ arguments: [String], in folder: TemporaryFolder) async throws {
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw BenchmarkFailure(description: "\(path) is missing; run 'deploy/bin/install-packages bench'")
        }
        // The registry's path is as long in every run: the copy of a text allocates once or twice by its length.
        let environment = [
            "SWIFT_DETERMINISTIC_HASHING": "1", "LD_PRELOAD": PreloadedLibrary.path(of: "stopped-clock"),
            "TMPDIR": "/tmp",
        ]
        let command = try RunningCommand(program: path, arguments, environment: environment, in: folder)
        let end = await command.end()
        guard end.exitCode == 0 else {
            throw BenchmarkFailure(description: "\(path) ended with \(end.exitCode): \(end.errors.suffix(4_000))")
        }
    }
}

/// The work of a thread between two marks, from a file of callgrind.
struct CallgrindProfile {
    /// How many instructions.
    let instructions: Int
    /// How many calls of `malloc` and its kin.
    let allocations: Int
    private let functions: [Substring]

    private static let allocators: Set<Substring> = [
        "malloc", "calloc", "realloc", "memalign", "aligned_alloc", "posix_memalign",
    ]

    /// Reads a file.
    ///
    /// A name stands behind its number where it comes first (`cfn=(7) malloc`), and later the number stands alone. A
    /// call is two lines: `cfn=` with the function, and `calls=` with how often.
    ///
    /// - Throws: `BenchmarkFailure` if it does not end with the sum of all instructions.
    init(_ data: Data) throws(BenchmarkFailure) {
        var names: [Substring: Substring] = [:]
        var total: Int?
        var allocations = 0
        var isAllocator = false
        for line in String(decoding: data, as: UTF8.self).split(separator: "\n") {
            if line.hasPrefix("fn=") || line.hasPrefix("cfn=") {
                let words = line.drop { $0 != "(" }.split(separator: " ", maxSplits: 1)
                if words.count == 2 { names[words[0]] = words[1] }
                let name = words.first.flatMap { names[$0] }
                isAllocator = line.hasPrefix("c") && name.map(Self.allocators.contains) ?? false
            } else if isAllocator, line.hasPrefix("calls=") {
                allocations += line.dropFirst(6).split(separator: " ").first.flatMap { Int($0) } ?? 0
            } else if line.hasPrefix("totals: ") {
                total = Int(line.dropFirst(8))
            }
        }
        guard let total else { throw BenchmarkFailure(description: "a file of callgrind has no line 'totals:'") }
        instructions = total
        self.allocations = allocations
        functions = Array(names.values)
    }

    /// Whether it ran or called a function whose name has this part.
    func hasFunction(_ symbol: String) -> Bool { functions.contains { $0.contains(symbol) } }
}
