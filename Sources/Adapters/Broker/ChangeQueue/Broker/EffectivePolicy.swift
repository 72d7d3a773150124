import JSON

/// The effective policy of one queue: RabbitMQ's result of the users' and operators' policies.
struct EffectivePolicy: Hashable, Sendable {
    /// The value of a key.
    enum Value: Hashable, Sendable, CustomStringConvertible {
        case number(Int64)
        case text(String)

        var description: String {
            switch self {
            case .number(let number): String(number)
            case .text(let text): text
            }
        }
    }

    /// The names of the policies in force; an operator changes a policy by its name.
    var names: [String] = []
    /// Each setting by its key, for example `overflow`.
    var values: [String: Value] = [:]

    /// Reads an answer of `GET /api/queues/VHOST/NAME`; nil if RabbitMQ does not yet name the policies or their
    /// settings.
    ///
    /// It says so with a queue's statistics, which come some seconds after the queue: an answer without them names no
    /// policy, not even that there is none.
    ///
    /// - Parameter queue: the answer.
    init?(queue: JSONValue) {
        let members = (["policy", "operator_policy"] as [StaticString]).compactMap { queue[$0] }
        names = members.compactMap(\.string).filter { !$0.isEmpty }
        guard let definition = queue["effective_policy_definition"] else {
            guard !members.isEmpty, names.isEmpty else { return nil }
            return
        }
        // Without a policy some versions write an empty array.
        for member in definition.object.map(Array.init) ?? [] {
            if let number = member.value.int64 {
                values[member.key] = .number(number)
            } else if let text = member.value.string {
                values[member.key] = .text(text)
            }
        }
    }

    /// A policy from values that were read already.
    init(names: [String] = [], values: [String: Value] = [:]) {
        self.names = names
        self.values = values
    }

    /// A setting that is a number.
    func number(_ key: String) -> Int64? { if case .number(let number) = values[key] { number } else { nil } }

    /// A setting that is a text.
    func text(_ key: String) -> String? { if case .text(let text) = values[key] { text } else { nil } }
}
