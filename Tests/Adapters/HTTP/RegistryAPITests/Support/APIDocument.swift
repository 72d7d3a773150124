import JSON
import PushTestKit

/// The OpenAPI document that the server serves.
struct APIDocument {
    /// One operation: a method of a path.
    struct Operation {
        let method: String
        let path: String
        let value: JSONValue
        /// The names of the parameters in the path.
        let pathParameters: Set<String>
    }

    let root: JSONValue
    var schema: JSONSchema { JSONSchema(document: root) }
    private let parser = JSONParser()

    init(_ text: String) throws { root = try parser.parse(text) }

    /// All operations.
    var operations: [Operation] {
        (root["paths"]?.object).map { paths in
            paths.flatMap { path in
                let common = parameters(of: path.value)
                return (path.value.object.map(Array.init) ?? []).filter { $0.key != "parameters" }.map { member in
                    Operation(
                        method: member.key.uppercased(), path: path.key, value: member.value,
                        pathParameters: common.union(parameters(of: member.value)))
                }
            }
        } ?? []
    }

    /// The operation that a path belongs to, without its query.
    func operation(_ method: String, _ path: String) -> Operation? {
        let parts = path.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: false)
        return operations.first { operation in
            let pattern = operation.path.split(separator: "/", omittingEmptySubsequences: false)
            return operation.method == method && pattern.count == parts.count
                && zip(pattern, parts).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
        }
    }

    /// Returns the violations of the document by an accepted body; empty if there are none.
    func violations(_ method: String, _ path: String, acceptedBody body: String) -> [String] {
        let content = operation(method, path)?.value["requestBody"]?["content"]
        guard let schema = content?["application/json"]?["schema"] else { return [] }
        let parser = JSONParser()
        guard let value = try? parser.parse(body) else { return ["the body is not JSON"] }
        return self.schema.violations(value, schema).map { "accepted body of \(method) \(path): \($0)" }
    }

    /// Returns the violations of the document by an answer; empty if there are none.
    func violations(_ method: String, _ path: String, status: Int, type: String?, body: String) -> [String] {
        guard let operation = operation(method, path) else { return ["\(method) \(path) is not in the document"] }
        guard var response = operation.value["responses"].flatMap({ JSONSchema.member("\(status)", of: $0) }) else {
            return ["\(method) \(operation.path): \(status) is not in the document"]
        }
        if let reference = response["$ref"]?.string {
            guard let target = schema.resolve(reference) else { return ["\(reference) leads nowhere"] }
            response = target
        }
        guard let content = response["content"] else { return body.isEmpty ? [] : ["there should be no body"] }
        guard let type, let media = JSONSchema.member(type, of: content), let schema = media["schema"] else {
            return ["the type \(type ?? "") is not in the document"]
        }
        let parser = JSONParser()
        guard let value = try? parser.parse(body) else { return ["the body is not JSON"] }
        return self.schema.violations(value, schema).map { "\(method) \(path) \(status): \($0)" }
    }

    /// The names of the items in the query of an operation.
    func queryNames(of operation: Operation) -> Set<String> { parameters(of: operation.value, "query") }

    /// The names of the parameters of an operation, wherever they stand.
    func parameterNames(of operation: Operation) -> Set<String> {
        operation.pathParameters.union(queryNames(of: operation))
    }

    private func parameters(of value: JSONValue, _ location: String = "path") -> Set<String> {
        var names: Set<String> = []
        for parameter in value["parameters"]?.array.map(Array.init) ?? [] {
            let target = parameter["$ref"]?.string.flatMap { schema.resolve($0) } ?? parameter
            if target["in"]?.string == location, let name = target["name"]?.string { names.insert(name) }
        }
        return names
    }
}
