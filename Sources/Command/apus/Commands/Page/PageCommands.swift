import Crypto
import Glibc
import OperatorPage
import WorkerConfiguration

/// The group `apus page`.
enum PageCommands {
    /// Its commands.
    static let node = CommandNode.group(
        name: "page",
        summary: "Manage the users of the operator's page",
        discussion: """
            Workers and 'apus registry' serve a page to look at and act from, at [admin] page_path
            of the admin server. Without a login only this machine's users may use it. These
            commands write the file [admin] users_file, one user a line, with hashes in place of
            passwords. A running worker reads a changed file within seconds.
            """,
        nodes: [
            .group(
                name: "user", summary: "Add, list and remove users of the page",
                discussion: "A viewer sees everything; an operator may also act.",
                nodes: [
                    .command(PageUserAddCommand()), .command(PageUserListCommand()),
                    .command(PageUserRemoveCommand()),
                ])
        ]
    )

    /// The codes with which the commands can end.
    static let exitCodes: [ExitCode] = [.data, .configuration, .inputOutput, .noInput]

    /// The file of users and its present content.
    static func users(_ invocation: CommandInvocation) throws(CommandFailure) -> (file: UsersFile, users: PageUsers) {
        let page = try invocation.loadConfiguration(for: .tool).configuration.admin.page
        guard let path = page?.usersFile else {
            throw CommandFailure(
                .configuration,
                "the configuration names no file of users; set [admin] users_file, for example "
                    + "/etc/apus/page-users")
        }
        let file = UsersFile(path: path)
        return (file, try file.read())
    }
}

/// `apus page user add`.
struct PageUserAddCommand: Command {
    private static let role = CommandOption.value("role", "ROLE", "viewer, or operator, who may act. Default: viewer.")
    private static let passwordBytesMinimum = 8
    private static let passwordBytesMaximum = 1_024

    let name = "add"
    let summary = "Add a user of the page, or change a user's password or role"
    let help = CommandHelp(
        discussion: """
            Reads the password from the terminal without showing it, or from standard input, and
            writes its scrypt hash to [admin] users_file. A missing file is created with the
            mode 600. A password has 8 to 1024 bytes.
            """,
        examples: [
            .init("apus page user add maria --role operator", "Asks for a password, and lets Maria act."),
            .init("pass show apus/tv | apus page user add tv", "Adds a viewer whose password a store knows."),
        ],
        exitCodes: PageCommands.exitCodes
    )
    let options = [role] + CommandOption.configuration
    let operands = Operands.exactly(["NAME"])

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let name = invocation.operands[0]
        let roleName = invocation.string(Self.role) ?? PageRole.viewer.rawValue
        guard let role = PageRole(rawValue: roleName) else {
            throw CommandFailure.usage("--role takes viewer or operator, not '\(roleName)'")
        }
        let (file, users) = try PageCommands.users(invocation)
        let password = try PasswordInput.read()
        guard (Self.passwordBytesMinimum...Self.passwordBytesMaximum).contains(password.count) else {
            throw CommandFailure(
                .data,
                "a password of \(password.count) bytes is not taken: give \(Self.passwordBytesMinimum) to "
                    + "\(Self.passwordBytesMaximum)")
        }
        let hash: PasswordHash
        do throws(CryptoError) { hash = try PasswordHash(of: password) } catch {
            throw CommandFailure(.unavailable, error.message)
        }
        guard let entry = PageUsers.Entry(name: name, role: role, hash: hash) else {
            throw CommandFailure.usage(
                "'\(name)' cannot be a user: give 1 to 128 printable characters of ASCII, without blanks, ':', '\"' "
                    + "and '#'")
        }
        let isNew = users[name] == nil
        try file.write(users.adding(entry))
        invocation.output.line("\(isNew ? "added" : "changed") the \(role.rawValue) \(name) in \(file.path)")
        return .ok
    }
}

/// `apus page user list`.
struct PageUserListCommand: Command {
    let name = "list"
    let summary = "List the users of the page with their roles"
    let help = CommandHelp(
        discussion: "Lists name and role; with --json one object a line.",
        examples: [.init("apus page user list", "Lists all users.")], exitCodes: PageCommands.exitCodes)
    let options = [.json] + CommandOption.configuration

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let users = try PageCommands.users(invocation).users
        invocation.showHeader(["NAME", "ROLE"])
        for entry in users.entries {
            let role = entry.role.rawValue
            invocation.show(["name": entry.name, "role": role], columns: [entry.name, role])
        }
        return .ok
    }
}

/// `apus page user remove`.
struct PageUserRemoveCommand: Command {
    let name = "remove"
    let summary = "Remove users of the page"
    let help = CommandHelp(
        discussion: """
            Removes users by their names; their logins end within seconds. A missing user is
            reported, the others are removed, and the exit code is 65.
            """,
        examples: [.init("apus page user remove maria", "Removes one user.")], exitCodes: PageCommands.exitCodes)
    let options = CommandOption.configuration
    let operands = Operands.oneOrMore("NAME")

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let (file, users) = try PageCommands.users(invocation)
        let missing = invocation.operands.filter { users[$0] == nil }
        for name in missing { StandardError.line("not found: \(name)") }
        let rest = users.removing(invocation.operands)
        let removed = users.entries.count - rest.entries.count
        if removed > 0 { try file.write(rest) }
        invocation.output.line("removed \(removed)")
        return missing.isEmpty ? .ok : .data
    }
}

/// The file of the page's users.
struct UsersFile {
    let path: String

    /// The users; none if there is no file yet.
    func read() throws(CommandFailure) -> PageUsers {
        guard access(path, F_OK) == 0 else { return PageUsers() }
        do {
            return try PageUsers(try InputFile.bytes(path))
        } catch let error as PageUsers.Problem {
            throw CommandFailure(.data, "\(path): \(error)")
        } catch let error as CommandFailure {
            throw error
        } catch {
            throw CommandFailure(.inputOutput, "\(path): \(error)")
        }
    }

    /// Replaces the file as a whole, so that a worker never reads a half of it.
    func write(_ users: PageUsers) throws(CommandFailure) {
        let text = users.entries.map { $0.line + "\n" }.joined()
        let temporary = "\(path).new"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("cannot create \(temporary)") }
        let bytes = Array(text.utf8)
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                defer { close(descriptor) }
                throw failure("cannot write \(temporary)")
            }
            written += count
        }
        guard fsync(descriptor) == 0, close(descriptor) == 0, rename(temporary, path) == 0 else {
            throw failure("cannot replace \(path)")
        }
    }

    private func failure(_ what: String) -> CommandFailure {
        CommandFailure(.inputOutput, "\(what): \(String(cString: strerror(errno)))")
    }
}

/// A password from a terminal, where it is not shown, or from a pipe.
private enum PasswordInput {
    static func read() throws(CommandFailure) -> [UInt8] {
        guard isatty(STDIN_FILENO) == 1 else {
            var bytes = try InputFile.bytes("-")
            if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
            if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
            return bytes
        }
        var shown = termios()
        guard tcgetattr(STDIN_FILENO, &shown) == 0 else { throw .usage("give the password on standard input") }
        var hidden = shown
        hidden.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
        defer { tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown) }
        StandardError.line("Password:")
        let first = readLine() ?? ""
        StandardError.line("The same again:")
        guard readLine() ?? "" == first else {
            throw CommandFailure(.data, "the two passwords are different; nothing was changed")
        }
        return Array(first.utf8)
    }
}
