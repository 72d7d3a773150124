import ChangeEvents
import Essentials
import HTTPServer

/// The rules for parameters in the path and in the query of the native API.
///
/// They are checked before any look-up, for reading and deleting as for writing: a name that breaks the rules is more
/// likely a mistake than a question.
enum NativeParameters {
    /// Checks the parameters of a request.
    ///
    /// - Parameters:
    ///   - values: the parameters in the path.
    ///   - request: the request with the query.
    ///   - names: the items that the query may have, each once.
    /// - Throws: `NativeProblem`.
    static func check(
        _ values: PathValues, _ request: HTTPRequest, queryNames names: [String]
    ) throws(NativeProblem) {
        for (name, value) in values.values { try check(name, value) }
        var seen: Set<ByteText> = []
        for item in request.target.queryItems {
            guard names.contains(item.name), seen.insert(ByteText(item.name)).inserted else {
                let known =
                    names.isEmpty ? "The operation has none." : "Known, each once: \(names.joined(separator: ", "))."
                throw NativeProblem(
                    .invalid, "The query item \"\(item.name.prefix(64))\" is not known, or there twice. \(known)")
            }
            try check(item.name, item.value)
        }
    }

    /// Refuses a change on a condition that this API cannot decide, so that the change is not made without it.
    ///
    /// There are no entity tags, so none is current (RFC 9110, section 13.1.1), and nothing keeps others from making at
    /// the same time what `If-None-Match: *` wants to make first. Other conditions hold without tags.
    ///
    /// - Throws: `NativeProblem`, 412.
    static func refuseConditions(of request: HTTPRequest) throws(NativeProblem) {
        for field in request.fields where field.name == "if-match" || field.name == "if-none-match" {
            let isRefused = field.name == "if-match" || field.value.split(separator: ",").contains { $0.contains("*") }
            guard !isRefused else {
                throw NativeProblem(
                    .preconditionFailed,
                    "Nothing was changed: there are no entity tags, so the condition If-Match or If-None-Match: * "
                        + "cannot be met. Send the request without it.")
            }
        }
    }

    /// Checks a value by the rule of the parameter of that name.
    static func check(_ name: String, _ value: String) throws(NativeProblem) {
        guard let requirement = rule(of: name)?.requirement(brokenBy: value) else { return }
        throw NativeProblem(
            .invalid,
            "\(name) is \"\(value.prefix(64))\" (\(value.utf8.count) bytes); it must be \(requirement).")
    }

    /// The rule of a parameter; nil for positions, numbers and words of a list, which their operations read.
    private static func rule(of name: String) -> TextRule? {
        switch name {
        case "app": .app
        case "campaign": .campaignName
        case "datasetName", "datasetsAfter": .datasetName
        case "identityId": .identity
        case "eventId": .eventIdentifier
        case "source": .source
        case "deviceId", "userId", "topic", "subscriptionId", "recordType": .name
        default: nil
        }
    }
}

extension Int64 {
    /// Reads a number from 0 up, of digits only; `Int64` itself takes a plus sign, too.
    init?(digits: String) {
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        self.init(digits)
    }
}
