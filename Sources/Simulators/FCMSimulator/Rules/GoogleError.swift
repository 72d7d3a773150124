/// An error in the JSON of Google's interfaces (`google.rpc.Status`, AIP-193).
struct GoogleError {
    /// The HTTP status.
    var status: Int
    /// The name of the gRPC status.
    var code: String
    /// The sentence for people.
    var message: String
    /// Further facts, each with its type.
    var details: [ErrorDetail] = []

    /// FCM's own refusal of a message (`INVALID_ARGUMENT`), which names a field.
    static func invalidArgument(_ message: String, field: String) -> GoogleError {
        GoogleError(
            status: 400, code: "INVALID_ARGUMENT", message: message,
            details: [
                .badRequest([FieldViolation(field: field, description: message)]), .fcmError("INVALID_ARGUMENT"),
            ])
    }

    /// The front end's refusal of a body.
    static func badRequest(_ violations: [FieldViolation]) -> GoogleError {
        GoogleError(
            status: 400, code: "INVALID_ARGUMENT", message: violations.map(\.description).joined(separator: "\n"),
            details: [.badRequest(violations)])
    }

    /// The body, as Google indents it.
    var body: [UInt8] {
        var members = [
            JSONMember(name: "code", value: .number(String(status))),
            JSONMember(name: "message", value: .string(message)), JSONMember(name: "status", value: .string(code)),
        ]
        if !details.isEmpty { members.append(JSONMember(name: "details", value: .array(details.map(\.node)))) }
        return JSONNode.object([JSONMember(name: "error", value: .object(members))]).body
    }
}

/// A detail of an error: its type and its members.
struct ErrorDetail {
    let node: JSONNode

    private init(_ type: String, _ members: KeyValuePairs<String, JSONNode>) {
        node = .object(
            [JSONMember(name: "@type", value: .string("type.googleapis.com/" + type))]
                + members.map { JSONMember(name: $0.key, value: $0.value) })
    }

    /// FCM's code.
    static func fcmError(_ code: String) -> ErrorDetail {
        ErrorDetail("google.firebase.fcm.v1.FcmError", ["errorCode": .string(code)])
    }

    /// The fields that are wrong; one of the request itself has no path.
    static func badRequest(_ violations: [FieldViolation]) -> ErrorDetail {
        let nodes = violations.map { violation in
            let description = JSONMember(name: "description", value: .string(violation.description))
            return JSONNode.object(
                violation.field.isEmpty
                    ? [description] : [JSONMember(name: "field", value: .string(violation.field)), description])
        }
        return ErrorDetail("google.rpc.BadRequest", ["fieldViolations": .array(nodes)])
    }

    /// The quota that was exceeded.
    static func quotaFailure(subject: String, _ description: String) -> ErrorDetail {
        let violation = JSONNode.object([
            JSONMember(name: "subject", value: .string(subject)),
            JSONMember(name: "description", value: .string(description)),
        ])
        return ErrorDetail("google.rpc.QuotaFailure", ["violations": .array([violation])])
    }

    /// The reason of the front end.
    static func errorInfo(_ reason: String, _ metadata: KeyValuePairs<String, String>) -> ErrorDetail {
        ErrorDetail(
            "google.rpc.ErrorInfo",
            [
                "reason": .string(reason), "domain": .string("googleapis.com"),
                "metadata": .object(metadata.map { JSONMember(name: $0.key, value: .string($0.value)) }),
            ])
    }

    /// Where people find out more.
    static func help(_ description: String, _ address: String) -> ErrorDetail {
        let link = JSONNode.object([
            JSONMember(name: "description", value: .string(description)),
            JSONMember(name: "url", value: .string(address)),
        ])
        return ErrorDetail("google.rpc.Help", ["links": .array([link])])
    }

    /// The details of a refusal.
    static func all(of refusal: FCMRefusal, _ project: FCMProject) -> [ErrorDetail] {
        let own = refusal.fcmErrorCode.map { [fcmError($0)] } ?? []
        let service = "fcm.googleapis.com"
        switch refusal {
        case .invalidTokenField:
            return own + [
                badRequest([FieldViolation(field: "message.token", description: "Invalid registration token")])
            ]
        case .deviceQuota: return own + [quotaFailure(subject: "device", "Device message rate exceeded.")]
        case .topicQuota: return own + [quotaFailure(subject: "topic", "Topic message rate exceeded.")]
        case .projectQuota:
            return own + [quotaFailure(subject: "projects/\(project.id)", "Project message rate exceeded.")]
        case .rateLimit:
            let facts = errorInfo(
                refusal.rawValue,
                [
                    "quota_limit_value": String(project.messagesPerMinute), "consumer": "projects/\(project.number)",
                    "quota_metric": "fcm.googleapis.com/send_requests", "quota_unit": "1/min/{project}",
                    "service": service, "quota_location": "global", "quota_limit": "SendsPerMinutePerProject",
                ])
            return [
                facts,
                help(
                    "Request a higher quota limit.", "https://cloud.google.com/docs/quotas/help/request_increase"),
            ]
        case .accessTokenExpired, .credentialsMissing, .scopeInsufficient:
            return [
                errorInfo(
                    refusal.rawValue,
                    ["method": "google.firebase.fcm.v1.FcmService.SendMessage", "service": service])
            ]
        case .permissionDenied:
            return [
                errorInfo(
                    refusal.rawValue,
                    [
                        "resource": "projects/\(project.id)", "permission": "cloudmessaging.messages.create",
                    ])
            ]
        case .serviceDisabled:
            return [errorInfo(refusal.rawValue, ["consumer": "projects/\(project.number)", "service": service])]
        default: return own
        }
    }
}
