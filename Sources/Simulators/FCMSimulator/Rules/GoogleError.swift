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
            GoogleJSON.Member(name: "code", value: .number(String(status))),
            GoogleJSON.Member(name: "message", value: .string(message)),
            GoogleJSON.Member(name: "status", value: .string(code)),
        ]
        if !details.isEmpty { members.append(GoogleJSON.Member(name: "details", value: .array(details.map(\.node)))) }
        return GoogleJSON.object([GoogleJSON.Member(name: "error", value: .object(members))]).body
    }
}

/// A detail of an error: its type and its members.
struct ErrorDetail {
    let node: GoogleJSON

    private init(_ type: String, _ members: GoogleJSON) {
        node = .object(
            [GoogleJSON.Member(name: "@type", value: .string("type.googleapis.com/" + type))] + members.members)
    }

    /// FCM's code.
    static func fcmError(_ code: String) -> ErrorDetail {
        ErrorDetail("google.firebase.fcm.v1.FcmError", ["errorCode": .string(code)])
    }

    /// The fields that are wrong; one of the request itself has no path.
    static func badRequest(_ violations: [FieldViolation]) -> ErrorDetail {
        let nodes = violations.map { violation in
            GoogleJSON(
                violation.field.isEmpty
                    ? ["description": violation.description]
                    : ["field": violation.field, "description": violation.description])
        }
        return ErrorDetail("google.rpc.BadRequest", ["fieldViolations": .array(nodes)])
    }

    /// The quota that was exceeded.
    static func quotaFailure(subject: String, _ description: String) -> ErrorDetail {
        ErrorDetail(
            "google.rpc.QuotaFailure",
            ["violations": [["subject": .string(subject), "description": .string(description)]]])
    }

    /// The reason of the front end.
    static func errorInfo(_ reason: FCMRefusal, _ metadata: KeyValuePairs<String, String>) -> ErrorDetail {
        ErrorDetail(
            "google.rpc.ErrorInfo",
            ["reason": .string(reason.rawValue), "domain": "googleapis.com", "metadata": GoogleJSON(metadata)])
    }

    /// The details of a refusal.
    static func all(of refusal: FCMRefusal, _ project: FCMProject) -> [ErrorDetail] {
        let own = refusal.fcmErrorCode.map { [fcmError($0)] } ?? []
        let service = "fcm.googleapis.com"
        switch refusal {
        case .invalidTokenField:
            let violation = FieldViolation(field: "message.token", description: "Invalid registration token")
            return own + [badRequest([violation])]
        case .deviceQuota: return own + [quotaFailure(subject: "device", "Device message rate exceeded.")]
        case .topicQuota: return own + [quotaFailure(subject: "topic", "Topic message rate exceeded.")]
        case .projectQuota:
            return own + [quotaFailure(subject: "projects/\(project.id)", "Project message rate exceeded.")]
        case .rateLimit:
            let facts = errorInfo(
                refusal,
                [
                    "quota_limit_value": String(project.messagesPerMinute), "consumer": "projects/\(project.number)",
                    "quota_metric": "fcm.googleapis.com/send_requests", "quota_unit": "1/min/{project}",
                    "service": service, "quota_location": "global", "quota_limit": "SendsPerMinutePerProject",
                ])
            let help: GoogleJSON = [
                "description": "Request a higher quota limit.",
                "url": "https://cloud.google.com/docs/quotas/help/request_increase",
            ]
            return [facts, ErrorDetail("google.rpc.Help", ["links": [help]])]
        case .accessTokenExpired, .credentialsMissing, .scopeInsufficient:
            return [
                errorInfo(refusal, ["method": "google.firebase.fcm.v1.FcmService.SendMessage", "service": service])
            ]
        case .permissionDenied:
            let permission = "cloudmessaging.messages.create"
            return [errorInfo(refusal, ["resource": "projects/\(project.id)", "permission": permission])]
        case .serviceDisabled:
            return [errorInfo(refusal, ["consumer": "projects/\(project.number)", "service": service])]
        default: return own
        }
    }
}
