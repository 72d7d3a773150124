/// The type of a field of a request.
indirect enum FieldType: Sendable {
    case string
    case bool
    case integer
    case double
    /// The name of the type, and its words in the order of their numbers.
    case enumeration(String, [String])
    case duration
    case timestamp
    case stringMap
    /// Any JSON object.
    case anyObject
    case list(FieldType)
    case message(MessageType)
}

/// A message of Google's interface: its name and its fields, which have their names in two spellings.
struct MessageType: Sendable {
    /// A field.
    struct Field: Sendable {
        let name: String
        let type: FieldType
        /// Of the fields with one word here, a message has one.
        let oneof: String?
    }

    let name: String
    private let fields: [String: Field]

    /// Describes a message.
    ///
    /// - Parameters:
    ///   - name: the name after `google.firebase.fcm.v1.`.
    ///   - fields: the types by name, as `snake_case`; `lowerCamelCase` is derived (proto3's mapping to JSON).
    ///   - oneofs: for fields that exclude each other the name of their group.
    init(_ name: String, _ fields: KeyValuePairs<String, FieldType>, oneofs: [String: String] = [:]) {
        self.name = "google.firebase.fcm.v1." + name
        var table: [String: Field] = [:]
        for (name, type) in fields {
            let field = Field(name: name, type: type, oneof: oneofs[name])
            table[name] = field
            table[Self.camelCase(name)] = field
        }
        self.fields = table
    }

    /// The field of a name in either spelling.
    func field(_ name: String) -> Field? { fields[name] }

    private static func camelCase(_ name: String) -> String {
        let words = name.split(separator: "_")
        return words.dropFirst().reduce(String(words.first ?? "")) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
    }
}

/// The body of `messages:send`, with all that it may contain.
///
/// Source: Google, "Firebase Cloud Messaging HTTP v1 API, REST resource projects.messages", and the Admin SDKs for the
/// fields of 2026 (`fid`, `android_v2`, `live_activity_token`).
extension MessageType {
    static let request = MessageType(
        "SendMessageRequest", ["validate_only": .bool, "message": .message(message)])

    static let message = MessageType(
        "Message",
        [
            "name": .string, "data": .stringMap, "notification": .message(notification), "android": .message(android),
            "android_v2": .anyObject, "webpush": .message(webpush), "apns": .message(apns),
            "fcm_options": .message(MessageType("FcmOptions", ["analytics_label": .string])),
            "token": .string, "fid": .string, "topic": .string, "condition": .string,
        ],
        oneofs: [
            "token": "target", "fid": "target", "topic": "target", "condition": "target",
            "android": "android_config", "android_v2": "android_config",
        ])

    private static let notification = MessageType(
        "Notification", ["title": .string, "body": .string, "image": .string])

    private static let android = MessageType(
        "AndroidConfig",
        [
            "collapse_key": .string, "priority": .enumeration("AndroidMessagePriority", ["NORMAL", "HIGH"]),
            "ttl": .duration, "restricted_package_name": .string, "data": .stringMap,
            "notification": .message(androidNotification),
            "fcm_options": .message(MessageType("AndroidFcmOptions", ["analytics_label": .string])),
            "direct_boot_ok": .bool, "bandwidth_constrained_ok": .bool, "restricted_satellite_ok": .bool,
        ])

    private static let androidNotification = MessageType(
        "AndroidNotification",
        [
            "title": .string, "body": .string, "icon": .string, "color": .string, "sound": .string, "tag": .string,
            "click_action": .string, "body_loc_key": .string, "body_loc_args": .list(.string),
            "title_loc_key": .string, "title_loc_args": .list(.string), "channel_id": .string, "ticker": .string,
            "sticky": .bool, "event_time": .timestamp, "local_only": .bool,
            "notification_priority": .enumeration(
                "AndroidNotification.NotificationPriority",
                [
                    "PRIORITY_UNSPECIFIED", "PRIORITY_MIN", "PRIORITY_LOW", "PRIORITY_DEFAULT", "PRIORITY_HIGH",
                    "PRIORITY_MAX",
                ]),
            "default_sound": .bool, "default_vibrate_timings": .bool, "default_light_settings": .bool,
            "vibrate_timings": .list(.duration),
            "visibility": .enumeration(
                "AndroidNotification.Visibility", ["VISIBILITY_UNSPECIFIED", "PRIVATE", "PUBLIC", "SECRET"]),
            "notification_count": .integer, "light_settings": .message(lightSettings), "image": .string,
            "bypass_proxy_notification": .bool,
            "proxy": .enumeration(
                "AndroidNotification.Proxy", ["PROXY_UNSPECIFIED", "ALLOW", "DENY", "IF_PRIORITY_LOWERED"]),
        ])

    private static let lightSettings = MessageType(
        "LightSettings",
        [
            "color": .message(
                MessageType("Color", ["red": .double, "green": .double, "blue": .double, "alpha": .double])),
            "light_on_duration": .duration, "light_off_duration": .duration,
        ])

    private static let webpush = MessageType(
        "WebpushConfig",
        [
            "headers": .stringMap, "data": .stringMap, "notification": .anyObject,
            "fcm_options": .message(MessageType("WebpushFcmOptions", ["link": .string, "analytics_label": .string])),
        ])

    private static let apns = MessageType(
        "ApnsConfig",
        [
            "headers": .stringMap, "payload": .anyObject, "live_activity_token": .string,
            "fcm_options": .message(MessageType("ApnsFcmOptions", ["analytics_label": .string, "image": .string])),
        ])
}
