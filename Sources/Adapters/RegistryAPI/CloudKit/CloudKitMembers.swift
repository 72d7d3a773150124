import Essentials
import JSON

/// Holds the objects of a request to the members that they may have.
///
/// What is not understood is refused and never passed over: a client that reads a subscription, changes a part of it
/// and sends it back must not lose the rest.
enum CloudKitMembers {
    /// Checks an object.
    ///
    /// - Parameters:
    ///   - value: what should be an object.
    ///   - path: what messages call it.
    ///   - names: the members that it may have, each once.
    /// - Returns: the object.
    /// - Throws: `CloudKitError` that names the member.
    static func object(
        _ value: JSONValue, _ path: StaticString, _ names: [StaticString]
    ) throws(CloudKitError) -> JSONObject {
        guard let object = value.object else { throw CloudKitError(.badRequest, "\(path) is not an object.") }
        if let name = object.firstMember(notAmong: names)?.key {
            let excerpt = name.shortened(bytesMaximum: 80).printable()
            let known = names.map { "\($0)" }.joined(separator: ", ")
            throw CloudKitError(
                .badRequest, "\(path) has the member \"\(excerpt)\", which is not known here; known are \(known).")
        }
        for name in names where object.hasSeveral(name) {
            throw CloudKitError(.badRequest, "\(path) has the member \(name) twice.")
        }
        return object
    }
}

extension JSONObject {
    /// The member of that key, unless it is `null`.
    func given(_ key: StaticString) -> JSONValue? {
        guard let value = self[key], !value.isNull else { return nil }
        return value
    }
}
