import Essentials

/// A manual page in the language `mdoc` (mdoc(7)), which both mandoc and groff format.
struct ManualPage {
    /// The name of its file, for example `apus-device-add.1`.
    let fileName: String
    /// The page.
    let text: String

    /// Makes the page of each command and group of a tree.
    ///
    /// - Parameters:
    ///   - root: the tree.
    ///   - date: the day that the pages show.
    /// - Returns: the pages, in section 1 of the manual.
    static func all(of root: CommandNode, date: WallTime) -> [ManualPage] {
        pages(of: root, path: [], date: date)
    }

    private static func pages(of node: CommandNode, path: [String], date: WallTime) -> [ManualPage] {
        let path = path + [node.name]
        return [page(of: node, path: path, date: date)] + node.nodes.flatMap { pages(of: $0, path: path, date: date) }
    }

    private static func page(of node: CommandNode, path: [String], date: WallTime) -> ManualPage {
        let name = path.joined(separator: "-")
        var writer = ManualWriter(name: name, section: 1, summary: node.summary, date: date)
        switch node {
        case .group(_, _, let discussion, _):
            writer.synopsis(of: path, "Ar COMMAND Op Ar OPTION ...")
            writer.section("DESCRIPTION", prose: discussion)
            writer.commands(node.nodes, of: name)
        case .command(let command), .parent(let command, _):
            let required = command.options.filter(\.isRequired).map { "Fl -\($0.name) Ar \($0.valueName ?? "") " }
            let operands = command.operands.usage.isEmpty ? "" : " Ar \(command.operands.usage)"
            writer.synopsis(of: path, "\(required.joined())Op Ar OPTION ...\(operands)")
            writer.section("DESCRIPTION", prose: command.help.discussion)
            if !node.nodes.isEmpty { writer.commands(node.nodes, of: name) }
            writer.options(command.options + [.help])
            writer.environment(of: command)
            writer.exitCodes(command.help.allExitCodes)
            writer.examples(command.help.examples)
        }
        let group = path.dropLast().joined(separator: "-")
        writer.seeAlso(group.isEmpty ? [] : [group], hasConfiguration: true)
        return ManualPage(fileName: "\(name).1", text: writer.text)
    }
}

/// Writes the sections of a manual page.
struct ManualWriter {
    /// The page so far.
    private(set) var text: String

    /// Begins a page with its title and the section NAME.
    init(name: String, section: Int, summary: String, date: WallTime) {
        text = """
            .Dd \(Self.day(date))
            .Dt \(name.uppercased()) \(section)
            .Os
            .Sh NAME
            .Nm \(name)
            .Nd \(Self.escaped(Self.lowercasedStart(summary)))

            """
    }

    /// How the command is called; the arguments are macros.
    mutating func synopsis(of path: [String], _ arguments: String) {
        text += ".Sh SYNOPSIS\n.Nm \(path.joined(separator: " "))\n.\(arguments)\n"
    }

    /// A section of paragraphs; those with indented lines stay as they are.
    mutating func section(_ title: String, prose: String) {
        text += ".Sh \(title)\n"
        let paragraphs = prose.split(separator: "\n\n", omittingEmptySubsequences: true)
        for (index, paragraph) in paragraphs.enumerated() {
            let isLaidOut = paragraph.split(separator: "\n").contains { $0.hasPrefix(" ") }
            if isLaidOut {
                literal(String(paragraph))
            } else {
                if index > 0 { text += ".Pp\n" }
                line(paragraph.split(separator: "\n").joined(separator: "\n"))
            }
        }
    }

    /// The commands of a group, each with its page.
    mutating func commands(_ nodes: [CommandNode], of name: String) {
        text += ".Sh COMMANDS\n"
        list(nodes.map { (item: "Xr \(name)-\($0.name) 1", text: $0.summary + ".") })
    }

    /// The options of a command.
    mutating func options(_ options: [CommandOption]) {
        text += ".Sh OPTIONS\n"
        list(
            options.map { option in
                let letter = option.letter.map { "Fl \($0) , " } ?? ""
                return ("\(letter)Fl -\(option.name)" + (option.valueName.map { " Ar \($0)" } ?? ""), option.summary)
            })
    }

    /// The variables that a command heeds.
    mutating func environment(of command: any Command) {
        let variables = command.help.environment(of: command)
        guard !variables.isEmpty else { return }
        text += ".Sh ENVIRONMENT\n"
        list(variables.map { ("Ev \($0.name)", $0.explanation) })
    }

    /// The codes that a command ends with.
    mutating func exitCodes(_ codes: [ExitCode]) {
        text += ".Sh EXIT STATUS\n"
        list(codes.map { ("\($0.rawValue)", Self.capitalizedStart($0.meaning) + ".") })
    }

    /// The examples of a command.
    mutating func examples(_ examples: [CommandHelp.Example]) {
        guard !examples.isEmpty else { return }
        text += ".Sh EXAMPLES\n"
        for (index, example) in examples.enumerated() {
            if index > 0 { text += ".Pp\n" }
            line(example.explanation)
            literal(example.line)
        }
    }

    /// Other pages of section 1, and that of the configuration.
    mutating func seeAlso(_ names: [String], hasConfiguration: Bool) {
        let pages = names.map { ".Xr \($0) 1" } + (hasConfiguration ? [".Xr apus.toml 5"] : [])
        text += ".Sh SEE ALSO\n\(pages.joined(separator: " ,\n"))\n"
    }

    /// A list of items, each a line of macros, with their texts.
    mutating func list(_ rows: [(item: String, text: String)]) {
        text += ".Bl -tag -width Ds\n"
        for row in rows {
            text += ".It \(row.item)\n"
            line(row.text)
        }
        text += ".El\n"
    }

    /// Lines that stay as they are.
    private mutating func literal(_ lines: String) {
        text += ".Bd -literal -offset indent\n\(Self.escaped(lines))\n.Ed\n"
    }

    /// Prose, each sentence of which begins on a line of its own, because roff puts the space between sentences there.
    private mutating func line(_ prose: String) {
        var lines = prose
        for end in [".", "?", "!", ".)"] { lines = lines.replacing("\(end) ", with: "\(end)\n") }
        text += Self.escaped(lines) + "\n"
    }

    // MARK: Text

    /// Text with the characters escaped that roff would take for its own.
    private static func escaped(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let escaped = line.replacing("\\", with: "\\e")
            return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : String(escaped)
        }.joined(separator: "\n")
    }

    private static func lowercasedStart(_ text: String) -> String { text.prefix(1).lowercased() + text.dropFirst() }
    private static func capitalizedStart(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }

    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]

    /// The day as mdoc wants it: `November 24, 2026`.
    private static func day(_ date: WallTime) -> String {
        let text = WallTime.text(milliseconds: date.milliseconds)
        let parts = text.prefix(10).split(separator: "-").compactMap { Int($0) }
        guard parts.count == 3, months.indices.contains(parts[1] - 1) else { return "January 1, 1970" }
        return "\(months[parts[1] - 1]) \(parts[2]), \(parts[0])"
    }
}
