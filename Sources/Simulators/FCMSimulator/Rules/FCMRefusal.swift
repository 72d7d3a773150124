import PushServiceSimulator

/// Why FCM or Google's front end refuses a message: the answers that were seen, each with its name.
///
/// Sources: Google, "ErrorCode" and "FCM error codes"; for the others the answers that are quoted in bloomberg/pushiko
/// (`docs/fcm_responses.md`), PyFCM 334, firebase-admin-go 719, firebase-admin-node 3215, airnotifier 211 and
/// firebase-admin-java 1064. The texts of `QuotaFailure` for a device or a topic are ours, because
/// Google publishes none.
public enum FCMRefusal: String, CaseIterable, Sendable {
    // With the detail `FcmError`.

    /// 404: the device has unregistered, or its token is too old.
    case unregistered = "UNREGISTERED"
    /// 403: the token belongs to another sender.
    case senderMismatch = "SENDER_ID_MISMATCH"
    /// 400: the token is malformed, in the form of the years since 2021.
    case invalidToken = "INVALID_TOKEN"
    /// 400: the token is malformed, in the older form that names the field.
    case invalidTokenField = "INVALID_TOKEN_FIELD"
    /// 429: too many messages to one device.
    case deviceQuota = "DEVICE_QUOTA"
    /// 429: too many messages to one topic.
    case topicQuota = "TOPIC_QUOTA"
    /// 429: too many messages of the project, as the documents have it.
    case projectQuota = "PROJECT_QUOTA"
    /// 503: try again later.
    case unavailable = "UNAVAILABLE"
    /// 500: try again later.
    case internalError = "INTERNAL"
    /// 401: the project's key for APNs or web push is wrong.
    case thirdParty = "THIRD_PARTY_AUTH_ERROR"
    /// The same with the text of 2026, which reads as if the sender's access token were missing.
    case thirdPartyMisleading = "THIRD_PARTY_AUTH_ERROR_MISLEADING"

    // Without it: they say nothing about the device.

    /// 429: too many messages of the project, as it was seen.
    case rateLimit = "RATE_LIMIT_EXCEEDED"
    /// 401: the access token has expired or was revoked.
    case accessTokenExpired = "ACCESS_TOKEN_EXPIRED"
    /// 401: no access token, or none of Google's.
    case credentialsMissing = "CREDENTIALS_MISSING"
    /// 403: the access token was made out for something else.
    case scopeInsufficient = "ACCESS_TOKEN_SCOPE_INSUFFICIENT"
    /// 403: the account may not send for the project.
    case permissionDenied = "IAM_PERMISSION_DENIED"
    /// 403: the project has the API switched off.
    case serviceDisabled = "SERVICE_DISABLED"
    /// 400: there is no such project.
    case unknownProject = "PROJECT_UNKNOWN"
    /// 404 in JSON and nothing more.
    case bareNotFound = "BARE_NOT_FOUND"
    /// 403 in JSON and nothing more.
    case bareForbidden = "BARE_FORBIDDEN"
    /// 504 in JSON.
    case deadlineExceeded = "DEADLINE_EXCEEDED"
    /// 404 as a page of HTML.
    case notFoundPage = "HTML_404"
    /// 408 as a page of HTML.
    case timeoutPage = "HTML_408"
    /// 502 as a page of HTML.
    case gatewayPage = "HTML_502"
    /// 503 and no body.
    case empty = "EMPTY_503"
    /// 503 and the beginning of a body.
    case truncated = "TRUNCATED_503"

    /// The HTTP status, the status of gRPC (empty for pages) and the message.
    private var head: (status: Int, code: String, message: String) {
        switch self {
        case .unregistered: (404, "NOT_FOUND", "Requested entity was not found.")
        case .senderMismatch: (403, "PERMISSION_DENIED", "SenderId mismatch")
        case .invalidToken:
            (400, "INVALID_ARGUMENT", "The registration token is not a valid FCM registration token")
        case .invalidTokenField: (400, "INVALID_ARGUMENT", "Request contains an invalid argument.")
        case .deviceQuota, .topicQuota, .projectQuota:
            (429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota).")
        case .unavailable, .truncated: (503, "UNAVAILABLE", "The service is currently unavailable.")
        case .internalError: (500, "INTERNAL", "Internal error encountered.")
        case .thirdParty: (401, "UNAUTHENTICATED", "Auth error from APNS or Web Push Service")
        case .thirdPartyMisleading, .credentialsMissing:
            (401, "UNAUTHENTICATED", "Request is missing required authentication credential. " + Self.expected)
        case .rateLimit:
            (
                429, "RESOURCE_EXHAUSTED",
                "Quota exceeded for quota metric 'Send requests' and limit 'Send requests per minute' of service "
                    + "'fcm.googleapis.com' for consumer 'project_number:{number}'."
            )
        case .accessTokenExpired:
            (401, "UNAUTHENTICATED", "Request had invalid authentication credentials. " + Self.expected)
        case .scopeInsufficient:
            (403, "PERMISSION_DENIED", "Request had insufficient authentication scopes.")
        case .permissionDenied:
            (
                403, "PERMISSION_DENIED",
                "Permission 'cloudmessaging.messages.create' denied on resource "
                    + "'//cloudresourcemanager.googleapis.com/projects/{project}' (or it may not exist)."
            )
        case .serviceDisabled:
            (
                403, "PERMISSION_DENIED",
                "Firebase Cloud Messaging API has not been used in project {number} before or it is disabled."
            )
        case .unknownProject: (400, "INVALID_ARGUMENT", "Fail to resolve resource 'projects/{project}'")
        case .bareNotFound: (404, "NOT_FOUND", "Requested entity was not found.")
        case .bareForbidden: (403, "PERMISSION_DENIED", "The caller does not have permission")
        case .deadlineExceeded: (504, "DEADLINE_EXCEEDED", "Deadline exceeded.")
        case .notFoundPage: (404, "", "The requested URL was not found on this server.")
        case .timeoutPage: (408, "", "Your client has taken too long to issue its request.")
        case .gatewayPage:
            (502, "", "The server encountered a temporary error and could not complete your request.")
        case .empty: (503, "", "")
        }
    }

    /// The code in the detail `FcmError`; nil if there is none.
    var fcmErrorCode: String? {
        switch self {
        case .unregistered, .senderMismatch, .unavailable, .internalError, .thirdParty: rawValue
        case .thirdPartyMisleading: Self.thirdParty.rawValue
        case .invalidToken, .invalidTokenField: "INVALID_ARGUMENT"
        case .deviceQuota, .topicQuota, .projectQuota: "QUOTA_EXCEEDED"
        default: nil
        }
    }

    private static let expected =
        "Expected OAuth 2 access token, login cookie or other valid authentication credential. See "
        + "https://developers.google.com/identity/sign-in/web/devconsole-project."

    /// The answer.
    ///
    /// - Parameters:
    ///   - project: the project, which some answers name.
    ///   - status: another status than the usual one, for a fault.
    /// - Returns: the answer, without `retry-after`.
    func answer(_ project: FCMProject, status: Int? = nil) -> ServiceAnswer {
        let head = head
        let message = head.message.replacing("{project}", with: project.id)
            .replacing("{number}", with: project.number)
        let status = status ?? head.status
        guard !head.code.isEmpty else {
            return .page(message, status: status, reason: rawValue)
        }
        let error = GoogleError(
            status: status, code: head.code, message: message, details: ErrorDetail.all(of: self, project))
        var answer = ServiceAnswer.json(status: status, reason: fcmErrorCode ?? rawValue, error.body)
        if self == .truncated { answer.body.removeLast(answer.body.count / 2) }
        return answer
    }
}

/// The project that a simulator is for.
struct FCMProject: Sendable {
    /// Its identifier, which stands in the path.
    let id: String
    /// Its number, which may stand there as well.
    let number: String
    /// How many messages it may send a minute.
    let messagesPerMinute: Int
}

extension ServiceAnswer {
    /// An answer in JSON.
    static func json(status: Int, reason: String?, _ body: [UInt8]) -> ServiceAnswer {
        ServiceAnswer(status: status, reason: reason, body: body, contentType: "application/json; charset=UTF-8")
    }

    /// A refusal as a page of the front end, without a body if there is no message.
    static func page(_ message: String, status: Int, reason: String) -> ServiceAnswer {
        let text = """
            <!DOCTYPE html>
            <html lang=en>
              <meta charset=utf-8>
              <title>Error \(status)!!1</title>
              <p><b>\(status).</b> <ins>That’s an error.</ins>
              <p>\(message)  <ins>That’s all we know.</ins>

            """
        return ServiceAnswer(
            status: status, reason: reason, body: message.isEmpty ? [] : Array(text.utf8),
            contentType: "text/html; charset=UTF-8")
    }

    /// Acceptance: the message has a name from now on.
    static func accepted(_ name: String) -> ServiceAnswer {
        json(status: 200, reason: nil, GoogleJSON(["name": name]).body)
    }
}
