import ChangeEvents
import Glibc
import JSON
import Notifications
import Predicates
import RegistryCore

/// `apus subscription test`.
struct SubscriptionTestCommand: Command {
    private static let record = CommandOption.value(
        "record", "FILE", "The record: a JSON object of its fields, or a whole event. - is standard input.",
        isRequired: true)
    private static let app = CommandOption.value("app", "NAME", "The app of the saved subscription.")

    let name = "test"
    let summary = "Explain clause by clause whether a condition holds for a record"
    let help = CommandHelp(
        discussion: """
            Evaluates a condition, given here or in a saved subscription, on a sample record, as
            a worker would, and explains each clause. The exit code is 0 if the record matches,
            and 1 if it does not. Nothing is sent or saved.
            """,
        examples: [
            .init(
                #"echo '{"artist":"mei chen","price":25}' | apus subscription test \"# + "\n"
                    + #"      --predicate 'artist = "Mei Chen" AND price <= 20' --record -"#,
                "Reports that the artist matches (case does not count) and the price does not."),
            .init(
                "apus subscription test mei --app music --user anna --record song.json",
                "Evaluates Anna's subscription 'mei'."),
        ],
        exitCodes: [.noMatch, .noInput] + DeviceRegistry.exitCodes
    )
    let options =
        [
            record, SubscriptionOptions.predicate, app, SubscriptionOptions.user, SubscriptionOptions.device, .json,
        ] + CommandOption.configuration
    let operands = Operands.optional("SUBSCRIPTION")

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let fields = try record(invocation)
        let explanation = PredicateExplanation(of: try predicate(invocation), for: fields)
        if invocation.isJSON {
            var writer = JSONWriter()
            explanation.write(to: &writer)
            invocation.output.line(writer.bytes)
        } else {
            invocation.output.lines(explanation.description)
        }
        return explanation.isMatch ? .ok : .noMatch
    }

    private func predicate(_ invocation: CommandInvocation) throws -> Predicate {
        let given = try SubscriptionOptions.predicate(invocation)
        guard !invocation.operands.isEmpty else {
            guard let given else { throw CommandFailure.usage("SUBSCRIPTION or --predicate is missing") }
            return given
        }
        guard given == nil else { throw CommandFailure.usage("SUBSCRIPTION and --predicate exclude each other") }
        let key = try SubscriptionOptions.key(invocation)
        return try DeviceRegistry.use(invocation, mode: .readOnly) { registry, _ in
            guard let stored = try registry.subscription(key) else { throw SubscriptionOptions.notFound(key) }
            return stored.subscription.predicate
        }
    }

    private func record(_ invocation: CommandInvocation) throws -> RecordFields {
        let path = try invocation.required(Self.record)
        let bytes = try InputFile.bytes(path)
        do {
            let value = try JSONParser(roundsNumbers: true).parse(bytes)
            guard let object = value.object else {
                throw CommandFailure(.data, "\(path) holds no JSON object; give the fields of a record, or an event.")
            }
            if object["specversion"] != nil, let data = object["data"]?.object {
                return try RecordFields(json: data["fields"]?.object ?? object, path: "data.fields")
            }
            return try RecordFields(json: object)
        } catch let error as EventRejection {
            throw CommandFailure(.data, "\(path): \(error.message)")
        } catch let error as JSONError {
            throw CommandFailure(.data, "\(path) is not valid JSON: \(error)")
        }
    }
}

/// Reads a small file as a whole.
enum InputFile {
    /// The largest file that is taken, in bytes: as large as an event.
    static let bytesMaximum = 4 * 1024 * 1024

    /// The bytes of a file; `-` is standard input.
    ///
    /// - Throws: `CommandFailure`: `noInput` if it cannot be read, `data` if it is too large.
    static func bytes(_ path: String) throws(CommandFailure) -> [UInt8] {
        let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw CommandFailure(.noInput, "\(path): \(String(cString: strerror(errno)))") }
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count == 0 { return bytes }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw CommandFailure(.noInput, "\(path): \(String(cString: strerror(errno)))")
            }
            bytes += buffer[..<count]
            guard bytes.count <= bytesMaximum else {
                throw CommandFailure(.data, "\(path) has more than \(bytesMaximum) bytes.")
            }
        }
    }
}
