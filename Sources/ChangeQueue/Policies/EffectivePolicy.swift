import JSON

/// What RabbitMQ's policies, of users and of operators, say of one queue, as RabbitMQ itself has put them together.
struct EffectivePolicy: Hashable, Sendable {
    /// What a key may have.
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

    /// Reads an answer of `GET /api/queues/VHOST/NAME`; nil if a policy is in force of which RabbitMQ does not say yet
    /// what it sets.
    ///
    /// - Parameter queue: the answer.
    init?(queue: JSONValue) {
        let names = ["policy", "operator_policy"] as [StaticString]
        self.names = names.compactMap { queue[$0]?.string }.filter { !$0.isEmpty }
        guard let definition = queue["effective_policy_definition"] else {
            guard self.names.isEmpty else { return nil }
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

    /// A policy that somebody else has read.
    init(names: [String] = [], values: [String: Value] = [:]) {
        self.names = names
        self.values = values
    }

    /// A setting that is a number.
    func number(_ key: String) -> Int64? { if case .number(let number) = values[key] { number } else { nil } }

    /// A setting that is a text.
    func text(_ key: String) -> String? { if case .text(let text) = values[key] { text } else { nil } }
}
