/// The script that completes the words of `apus` in zsh, with the summaries of commands and options.
enum ZshCompletion {
    /// The script, for a tree of commands.
    static func script(of root: CommandNode) -> String {
        let entries = CompletionEntry.all(of: root)
        let program = root.name
        let words = entries.dropFirst().map { quoted($0.words) }.joined(separator: "|")
        return """
            #compdef \(program)
            # Completes \(program) in zsh: a file _\(program) in a folder of $fpath, or sourced after compinit.
            _\(program)() {
                local at=\(program) position=1 index
                local -a next options
                for (( index = 2; index < CURRENT; index++ )); do
                    case "$at $words[index]" in
                    (\(words)) at+=" $words[index]" position=$index ;;
                    esac
                done
                case $at in
            \(entries.map(place).joined(separator: "\n"))
                esac
                if (( $#next && CURRENT == position + 1 )) && [[ $words[CURRENT] != -* ]]; then
                    _describe command next
                    return
                fi
                words=("${(@)words[position,-1]}")
                (( CURRENT -= position - 1 ))
                _arguments -s -S $options
            }
            if [[ $funcstack[1] == _\(program) ]]; then _\(program) "$@"; else compdef _\(program) \(program); fi

            """
    }

    private static func place(_ entry: CompletionEntry) -> String {
        let next = entry.next.map { quoted("\($0.name):\($0.summary)") }.joined(separator: " ")
        var options = entry.options.flatMap { option in option.forms.map { specification(of: option, as: $0) } }
        if !entry.operands.isEmpty {
            options.append("*:\(escaped(entry.operands)):\(entry.takesFiles ? "_files" : " ")")
        }
        let list = options.map(quoted).joined(separator: " ")
        return "    (\(quoted(entry.words))) next=(\(next)) options=(\(list)) ;;"
    }

    private static func specification(of option: CommandOption, as form: String) -> String {
        let summary = "[\(escaped(option.summary))]"
        guard let value = option.valueName else { return "*\(form)\(summary)" }
        // After a long option the value may follow an equals sign.
        let isLong = form.hasPrefix("--")
        return "*\(form)\(isLong ? "=" : "")\(summary):\(escaped(value)):\(option.takesFile ? "_files" : " ")"
    }

    private static func escaped(_ text: String) -> String {
        text.map { "[]:\\".contains($0) ? "\\\($0)" : "\($0)" }.joined()
    }

    private static func quoted(_ text: String) -> String { "'\(text.replacing("'", with: "'\\''"))'" }
}
