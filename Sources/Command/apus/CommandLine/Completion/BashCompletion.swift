/// The script that completes the words of `apus` in bash.
enum BashCompletion {
    /// The script, for a tree of commands.
    static func script(of root: CommandNode) -> String {
        let entries = CompletionEntry.all(of: root)
        let program = root.name
        let words = entries.dropFirst().map { quoted($0.words) }.joined(separator: "|")
        let files = places(of: entries) { $0.takesFile }
        let others = places(of: entries) { $0.valueName != nil && !$0.takesFile }
        let lists = entries.map { entry in
            let list = entry.next.map(\.name) + entry.options.flatMap(\.forms)
            return "        \(quoted(entry.words))) words=\(quoted(list.joined(separator: " "))) ;;"
        }
        let operands = entries.filter(\.takesFiles).map { quoted($0.words) }.joined(separator: "|")
        return """
            # Completes \(program) in bash: source this file, or put it into /usr/share/bash-completion/completions.
            _\(program)() {
                local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} at=\(program) words= word
                COMPREPLY=()
                # Readline makes three words of --name=value.
                if [[ $current == = ]]; then
                    current=
                elif [[ $before == = ]]; then
                    before=${COMP_WORDS[COMP_CWORD-2]}
                fi
                for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
                    case "$at $word" in
                    \(words)) at+=" $word" ;;
                    esac
                done
                case "$at $before" in
                \(files))
                    compopt -o filenames 2>/dev/null
                    mapfile -t COMPREPLY < <(compgen -f -- "$current")
                    return ;;
                \(others)) return ;;
                esac
                case $at in
            \(lists.joined(separator: "\n"))
                esac
                mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
                case $at in
                \(operands))
                    [[ $current == -* ]] && return
                    compopt -o filenames 2>/dev/null
                    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$current") ;;
                esac
            }
            complete -F _\(program) \(program)

            """
    }

    /// The alternatives of a `case`: a place and an option that has just been typed.
    private static func places(of entries: [CompletionEntry], where isWanted: (CommandOption) -> Bool) -> String {
        entries.flatMap { entry in
            entry.options.filter(isWanted).flatMap(\.forms).map { quoted("\(entry.words) \($0)") }
        }.joined(separator: "|")
    }

    private static func quoted(_ text: String) -> String { "'\(text)'" }
}
