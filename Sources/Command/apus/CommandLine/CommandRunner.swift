import EventLoop
import Glibc

/// Finds the command that the words name, runs it, and says how it ended.
struct CommandRunner: Sendable {
    /// The tree of commands; its root is the group `apus`.
    let root: CommandNode
    /// Where data goes.
    let output: StandardOutput

    /// Runs the command that the process was started with, and ends the process.
    ///
    /// It ends on the thread that the command ended on: a change to the main one may need a new thread, for which
    /// Swift's runtime waits for seconds if the system has none.
    func runProcess() async -> Never {
        do throws(ProcessArguments.Missing) {
            exit(await run(try ProcessArguments.words()).rawValue)
        } catch {
            report(CommandFailure(.usage, "\(error)"), path: [root.name])
            exit(ExitCode.usage.rawValue)
        }
    }

    /// Runs the command that the words after the program's name select.
    ///
    /// - Returns: the code for the process to end with, after all output has been written.
    func run(_ words: [String]) async -> ExitCode {
        var path: [String] = []
        var code: ExitCode
        do {
            code = try await dispatch(words, path: &path)
        } catch let failure as CommandFailure {
            report(failure, path: path)
            code = failure.code
        } catch let error as EventLoopError {
            // Threads, descriptors or memory, of which there may be more in a moment.
            report(CommandFailure(.temporaryFailure, "\(error)"), path: path)
            code = .temporaryFailure
        } catch {
            report(CommandFailure(.software, "\(error)"), path: path)
            code = .software
        }
        if let problem = output.finish() {
            report(CommandFailure(.inputOutput, "standard output: \(problem)"), path: path)
            if code == .ok { code = .inputOutput }
        }
        return code
    }

    private func dispatch(_ words: [String], path: inout [String]) async throws -> ExitCode {
        var node = root
        path = [root.name]
        var rest = words[...]
        // Options that are common to all commands may stand before the command's words: `apus --config x run`.
        var early: [String] = []
        while true {
            if case .command = node { break }
            if case .parent(let command, let nodes) = node {
                guard let next = nodes.first(where: { $0.name == rest.first }) else {
                    return try await run(command, in: node, words: early + Array(rest), path: path)
                }
                rest = rest.dropFirst()
                node = next
                path.append(next.name)
                continue
            }
            guard let word = rest.popFirst() else {
                output.write(HelpText.text(of: node, path: path))
                return early.isEmpty && words.isEmpty ? .ok : .usage
            }
            if word == "--help" || word == "-h" {
                output.write(HelpText.text(of: node, path: path))
                return .ok
            }
            if word == "--version", path.count == 1 {
                rest = ["version"]
            } else if word.hasPrefix("-") {
                try collect(word, rest: &rest, into: &early)
            } else if let next = node.nodes.first(where: { $0.name == word }) {
                node = next
                path.append(word)
            } else {
                let suggestion = Suggestion.text(for: word, among: node.nodes.map(\.name))
                throw CommandFailure.usage("unknown command '\(word)'\(suggestion)")
            }
        }
        guard case .command(let command) = node else { return .software }
        return try await run(command, in: node, words: early + Array(rest), path: path)
    }

    private func collect(
        _ word: String,
        rest: inout ArraySlice<String>,
        into early: inout [String]
    ) throws(CommandFailure) {
        early.append(word)
        let common = CommandOption.configuration + [.json]
        let name = word.prefix { $0 != "=" }
        guard let option = common.first(where: { "--\($0.name)" == name || $0.letter.map { "-\($0)" } == word }) else {
            throw .usage("unknown option '\(word)' before the command")
        }
        if option.valueName != nil, !word.contains("="), let value = rest.popFirst() { early.append(value) }
    }

    private func run(
        _ command: any Command, in node: CommandNode, words: [String], path: [String]
    ) async throws -> ExitCode {
        let beforeOperands = words.prefix { $0 != "--" }
        if beforeOperands.contains("--help") || beforeOperands.contains("-h") {
            output.write(HelpText.text(of: node, path: path))
            return .ok
        }
        let parsed = try OptionParser.parse(words, options: command.options + [.help])
        for option in command.options where option.isRequired && parsed.values[option.name] == nil {
            throw CommandFailure.usage("--\(option.name) \(option.valueName ?? "") is missing")
        }
        try command.operands.check(parsed.operands)
        return try await command.run(
            CommandInvocation(path: path, operands: parsed.operands, values: parsed.values, output: output)
        )
    }

    private func report(_ failure: CommandFailure, path: [String]) {
        let words = path.joined(separator: " ")
        let hint = failure.code == .usage ? "; see '\(words) --help'" : ""
        StandardError.line("\(words): \(failure.message)\(hint)")
    }
}
