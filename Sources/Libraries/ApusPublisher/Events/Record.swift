public import FoundationEssentials

/// A record that devices may have subscribed to, in CloudKit's terms.
public struct Record: Hashable, Sendable {
    /// The database that a record lies in, which decides who may see it.
    public enum Database: Hashable, Sendable {
        /// Everyone's.
        case `public`
        /// A user's own.
        case `private`(userID: String)
        /// Records that other users share with a user.
        case shared(userID: String)
    }

    /// The type, for example `Song`.
    public var type: String
    /// Names the record among all of its type.
    public var name: String
    /// The fields, against which the predicates of subscriptions are evaluated.
    public var fields: [String: EventValue]
    /// The database that it lies in.
    public var database: Database
    /// The zone that it lies in; nil is the default zone.
    public var zoneName: String?
    /// The app whose subscribers hear of it; nil is all apps.
    public var app: String?

    /// Describes a record.
    ///
    /// - Parameters:
    ///   - type: the type.
    ///   - name: the name.
    ///   - fields: the fields.
    ///   - database: the database that it lies in.
    ///   - zoneName: the zone; nil is the default zone.
    ///   - app: the app whose subscribers hear of it; nil is all apps.
    public init(
        type: String, name: String, fields: [String: EventValue] = [:], database: Database = .public,
        zoneName: String? = nil, app: String? = nil
    ) {
        self.type = type
        self.name = name
        self.fields = fields
        self.database = database
        self.zoneName = zoneName
        self.app = app
    }

    func write(to data: inout EventWriter) {
        data.member("recordType", type)
        data.member("recordName", name)
        data.member("fields", fields)
        switch database {
        case .public: data.member("database", "public")
        case .private(let userID):
            data.member("database", "private")
            data.member("ownerId", userID)
        case .shared(let userID):
            data.member("database", "shared")
            data.member("ownerId", userID)
        }
        data.member("zoneName", zoneName)
        data.member("app", app)
    }
}

/// The values of fields that CloudKit has and JSON has not.
extension EventValue {
    /// A moment of 1970 to 9999, in milliseconds; an event with another one is refused.
    public static func timestamp(_ moment: Date) -> EventValue {
        // No number, which makes the event fail: a moment is not moved to another one.
        guard let milliseconds = moment.eventMilliseconds else { return .double(.nan) }
        return ["value": .integer(milliseconds), "type": "TIMESTAMP"]
    }

    /// A place, in degrees.
    public static func location(latitude: Double, longitude: Double) -> EventValue {
        ["latitude": .double(latitude), "longitude": .double(longitude)]
    }

    /// A reference to another record.
    ///
    /// - Parameters:
    ///   - recordName: the name of that record.
    ///   - zoneName: its zone; nil is the default zone.
    /// - Returns: the value.
    public static func reference(_ recordName: String, zoneName: String? = nil) -> EventValue {
        var members: [String: EventValue] = ["recordName": .string(recordName)]
        if let zoneName { members["zoneID"] = ["zoneName": .string(zoneName)] }
        return .object(members)
    }
}
