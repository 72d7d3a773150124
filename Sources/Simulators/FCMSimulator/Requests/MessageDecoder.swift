import Essentials

/// A violation of the schema by one field, as in `google.rpc.BadRequest`.
struct FieldViolation: Equatable {
    /// The path of the field; empty for the request itself.
    let field: String
    let description: String
}

/// Reads a body against the schema, as Google's front end does: every violation is found, and the words are Google's.
///
/// Source of the words: answers that are quoted in issues (firebase-admin-go 354, fcm-v1-http2 5,
/// firebase_cloud_messenger 15, laravel-notification-channels/fcm 43), Google's page "FCM error codes", and the parser
/// of protobuf's C++ library for durations.
struct MessageDecoder {
    private(set) var violations: [FieldViolation] = []

    /// Reads a body.
    ///
    /// - Returns: the request with `snake_case` names and without nulls; meaningful only if there are no violations.
    mutating func decode(_ body: [UInt8]) -> GoogleJSON {
        guard let node = GoogleJSON.parse(body) else {
            return refuse("", "Invalid JSON payload received. Unexpected token.\n\(Self.excerpt(body))\n^")
        }
        guard case .object = node else {
            return refuse("", "Invalid JSON payload received. Unknown name \"\": Root element must be a message.")
        }
        return message(node, MessageType.request, at: "")
    }

    private static func excerpt(_ body: [UInt8]) -> String {
        String(decoding: body.prefix(20), as: UTF8.self).printable()
    }

    @discardableResult
    private mutating func refuse(_ field: String, _ description: String) -> GoogleJSON {
        violations.append(FieldViolation(field: field, description: description))
        return .null
    }

    private mutating func refuseValue(_ path: String, _ type: String, _ value: String) -> GoogleJSON {
        refuse(path, "Invalid value at '\(path)' (\(type)), \(value)")
    }

    private mutating func refuseName(_ name: String, at path: String, _ reason: String) {
        let place = path.isEmpty ? "" : " at '\(path)'"
        refuse(path, "Invalid JSON payload received. Unknown name \"\(name)\"\(place): \(reason)")
    }

    // MARK: Messages

    private mutating func message(_ node: GoogleJSON, _ type: MessageType, at path: String) -> GoogleJSON {
        guard case .object(let members) = node else {
            if case .array = node { return notRepeating(path) }
            return refuseValue(path, "type.googleapis.com/" + type.name, node.compact)
        }
        var known: [GoogleJSON.Member] = []
        var groups: Set<String> = []
        for member in members {
            guard let field = type.field(member.name) else {
                refuseName(member.name, at: path, "Cannot find field.")
                continue
            }
            guard member.value != .null else { continue }
            guard !known.contains(where: { $0.name == field.name }) else {
                refuseName(member.name, at: path, "Duplicate field.")
                continue
            }
            if let group = field.oneof, !groups.insert(group).inserted {
                let place = path.isEmpty ? "" : " at '\(path)'"
                refuse(
                    path,
                    "Invalid value\(place) (oneof), oneof field '\(group)' is already set. Cannot set '\(member.name)'")
                continue
            }
            let place = path.isEmpty ? field.name : path + "." + field.name
            known.append(GoogleJSON.Member(name: field.name, value: value(member.value, field.type, at: place)))
        }
        return .object(known)
    }

    /// A list where there is one value.
    private mutating func notRepeating(_ path: String) -> GoogleJSON {
        let name = path.split(separator: ".").last ?? ""
        let parent = path.dropLast(name.count + (path.count > name.count ? 1 : 0))
        refuseName(String(name), at: String(parent), "Proto field is not repeating, cannot start list.")
        return .null
    }

    /// An object where there is a plain value: the parser takes its members for fields.
    private mutating func notAMessage(_ members: [GoogleJSON.Member], _ path: String) -> GoogleJSON {
        for member in members { refuseName(member.name, at: path, "Cannot find field.") }
        if members.isEmpty { refuse(path, "Invalid value at '\(path)', {}") }
        return .null
    }

    // MARK: Values

    private mutating func value(_ node: GoogleJSON, _ type: FieldType, at path: String) -> GoogleJSON {
        switch (type, node) {
        case (.message(let type), _): return message(node, type, at: path)
        case (.list(let element), .array(let nodes)):
            return .array(nodes.enumerated().map { value($1, element, at: "\(path)[\($0)]") })
        case (.list(let element), _): return value(node, element, at: path)
        case (_, .array): return notRepeating(path)
        case (.anyObject, .object): return node
        case (.anyObject, _): return refuseValue(path, "type.googleapis.com/google.protobuf.Struct", node.compact)
        case (.stringMap, .object(let members)): return map(members, at: path)
        case (.stringMap, _): return refuseValue(path, "Map", node.compact)
        case (_, .object(let members)): return notAMessage(members, path)
        default: return scalar(node, type, at: path)
        }
    }

    private mutating func map(_ members: [GoogleJSON.Member], at path: String) -> GoogleJSON {
        var known: [GoogleJSON.Member] = []
        for (index, member) in members.enumerated() {
            if known.contains(where: { $0.name == member.name }) {
                refuseName(member.name, at: path, "Duplicate map key.")
                continue
            }
            let place = "\(path)[\(index)].value"
            known.append(GoogleJSON.Member(name: member.name, value: value(member.value, .string, at: place)))
        }
        return .object(known)
    }

    private mutating func scalar(_ node: GoogleJSON, _ type: FieldType, at path: String) -> GoogleJSON {
        switch (type, node) {
        case (.string, .string), (.bool, .bool), (.double, .number): return node
        case (.string, _): return refuseValue(path, "TYPE_STRING", node.compact)
        case (.bool, _): return refuseValue(path, "TYPE_BOOL", node.compact)
        case (.double, _): return refuseValue(path, "TYPE_FLOAT", node.compact)
        case (.integer, .number(let digits)), (.integer, .string(let digits)):
            guard Int32(digits) != nil else { return refuseValue(path, "TYPE_INT32", node.compact) }
            return .number(digits)
        case (.enumeration(_, let words), .string(let word)) where words.contains(word.uppercased()):
            return .string(word.uppercased())
        case (.enumeration(_, let words), .number(let digits)):
            if let number = Int(digits), words.indices.contains(number) { return .string(words[number]) }
        case (.duration, .string(let text)):
            guard let fault = ProtoDuration.fault(of: text) else { return node }
            let name = path.split(separator: ".").last ?? ""
            return refuseValue(
                path, "type.googleapis.com/google.protobuf.Duration", "Field '\(name)', \(fault)")
        case (.timestamp, .string(let text)) where Self.isTimestamp(text): return node
        default: break
        }
        return refuseValue(path, Self.name(of: type), node.compact)
    }

    private static func isTimestamp(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { RFC3339.milliseconds($0) } != nil
    }

    private static func name(of type: FieldType) -> String {
        switch type {
        case .enumeration(let name, _): "type.googleapis.com/google.firebase.fcm.v1." + name
        case .duration: "type.googleapis.com/google.protobuf.Duration"
        case .timestamp: "type.googleapis.com/google.protobuf.Timestamp"
        default: "TYPE_INT32"
        }
    }
}

/// The text of a duration: seconds with up to nine decimals, and `s` (proto3's mapping to JSON).
enum ProtoDuration {
    /// The longest duration of the type, 10 000 years, in seconds.
    private static let secondsMaximum: Int64 = 315_576_000_000

    /// Returns the fault of a text; nil if it is a duration.
    static func fault(of text: String) -> String? {
        guard text.hasSuffix("s") else { return "Illegal duration format; duration must end with 's'" }
        guard let seconds = seconds(text) else {
            return "Illegal duration format; failed to parse seconds"
        }
        return abs(seconds) <= Double(secondsMaximum) ? nil : "Illegal duration; seconds exceed limit"
    }

    /// How many seconds a text says; nil if it is no duration.
    static func seconds(_ text: String) -> Double? {
        guard text.hasSuffix("s") else { return nil }
        var digits = text.dropLast()
        let isNegative = digits.hasPrefix("-")
        if isNegative { digits = digits.dropFirst() }
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(Self.isDigit) }),
            parts[0].count <= 18, parts.count == 1 || parts[1].count <= 9, let seconds = Double(digits)
        else { return nil }
        return isNegative ? -seconds : seconds
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }
}
