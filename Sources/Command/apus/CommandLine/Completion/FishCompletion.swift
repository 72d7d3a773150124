/// The script that completes the words of `apus` in fish, with the summaries of commands and options.
enum FishCompletion {
    /// The script, for a tree of commands.
    static func script(of root: CommandNode) -> String {
        let entries = CompletionEntry.all(of: root)
        let program = root.name
        let words = entries.dropFirst().map { quoted($0.words) }.joined(separator: " ")
        let rules = entries.flatMap { lines(of: $0, program) }
        return """
            # Completes \(program) in fish: put this file into a folder of $fish_complete_path.
            function __\(program)_at --description 'Whether these words are the command on the line'
                set -l at \(program)
                for word in (commandline -opc)[2..-1]
                    switch "$at $word"
                        case \(words)
                            set at "$at $word"
                    end
                end
                test "$at" = "$argv"
            end
            complete -c \(program) -f
            \(rules.joined(separator: "\n"))

            """
    }

    private static func lines(of entry: CompletionEntry, _ program: String) -> [String] {
        let start = "complete -c \(program) -n \(quoted("__\(program)_at \(entry.words)"))"
        let next = entry.next.map { "\(start) -a \($0.name) -d \(quoted($0.summary))" }
        let options = entry.options.map { option in
            let letter = option.letter.map { " -s \($0)" } ?? ""
            let value = option.valueName == nil ? "" : option.takesFile ? " -r -F" : " -x"
            return "\(start) -l \(option.name)\(letter)\(value) -d \(quoted(option.summary))"
        }
        return next + options + (entry.takesFiles ? ["\(start) -F"] : [])
    }

    private static func quoted(_ text: String) -> String {
        "'\(text.replacing("\\", with: "\\\\").replacing("'", with: "\\'"))'"
    }
}
