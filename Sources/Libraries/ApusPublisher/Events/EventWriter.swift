import Essentials
import FoundationEssentials
import JSON

/// Writes the members of an event, and remembers the first value that JSON or the event cannot hold.
struct EventWriter {
    private var json = JSONWriter()
    /// The problem of the first value that cannot be written; nil if all can.
    private(set) var fault: String?

    /// The written bytes.
    var bytes: [UInt8] { json.bytes }

    // MARK: Objects

    /// Writes an object.
    mutating func object(_ members: (inout EventWriter) -> Void) {
        json.beginObject()
        members(&self)
        json.endObject()
    }

    /// Writes a member that is an object.
    mutating func member(_ name: StaticString, _ members: (inout EventWriter) -> Void) {
        json.key(name)
        object(members)
    }

    // MARK: Members, left out if they are nil

    mutating func member(_ name: StaticString, _ value: String?) {
        guard let value else { return }
        json.key(name)
        json.string(value)
    }

    mutating func member(_ name: StaticString, _ value: Int64?) {
        guard let value else { return }
        json.key(name)
        json.integer(value)
    }

    mutating func member(_ name: StaticString, _ value: Double?) {
        guard let value else { return }
        json.key(name)
        number(value, name: "\(name)")
    }

    mutating func member(_ name: StaticString, _ values: [String]) {
        json.key(name)
        json.beginArray()
        for value in values { json.string(value) }
        json.endArray()
    }

    /// A flag is left out if it is false.
    mutating func member(_ name: StaticString, _ isSet: Bool) {
        guard isSet else { return }
        json.key(name)
        json.boolean(true)
    }

    mutating func member(_ name: StaticString, _ values: [String: EventValue]) {
        guard !values.isEmpty else { return }
        json.key(name)
        value(.object(values), name: "\(name)")
    }

    /// A moment as whole seconds since 1970, rounded down.
    mutating func member(_ name: StaticString, _ moment: Date?) {
        guard let moment, let milliseconds = milliseconds(of: moment, name: "\(name)") else { return }
        member(name, milliseconds / 1_000)
    }

    /// An attribute of the event, by a name that is yours.
    mutating func attribute(_ name: String, _ value: String) {
        json.key(dynamic: name)
        json.string(value)
    }

    /// The attribute `time`.
    mutating func time(_ moment: Date) {
        guard let milliseconds = milliseconds(of: moment, name: "time") else { return }
        attribute("time", WallTime.text(milliseconds: milliseconds))
    }

    /// Says that a value cannot be written; the first fault counts.
    mutating func refuse(_ reason: String) { if fault == nil { fault = reason } }

    // MARK: Values

    private mutating func value(_ value: EventValue, name: String) {
        switch value {
        case .null: json.null()
        case .boolean(let value): json.boolean(value)
        case .integer(let value): json.integer(value)
        case .double(let value): number(value, name: name)
        case .string(let value): json.string(value)
        case .array(let values):
            json.beginArray()
            for element in values { self.value(element, name: name) }
            json.endArray()
        case .object(let members):
            json.beginObject()
            for (key, member) in members.sorted(by: { $0.key < $1.key }) {
                json.key(dynamic: key)
                self.value(member, name: "\(name).\(key.shortened(bytesMaximum: 80).printable())")
            }
            json.endObject()
        }
    }

    private mutating func number(_ value: Double, name: String) {
        if !value.isFinite { refuse("\(name) is \(value); it must be a finite number") }
        json.double(value)
    }

    private mutating func milliseconds(of moment: Date, name: String) -> Int64? {
        guard let milliseconds = moment.eventMilliseconds else {
            refuse("\(name) is \(moment.timeIntervalSince1970) s after 1970; it must be a moment of 1970 to 9999")
            return nil
        }
        return milliseconds
    }
}

extension Date {
    /// Milliseconds since 1970, rounded; nil before 1970 and after 9999.
    var eventMilliseconds: Int64? {
        let milliseconds = (timeIntervalSince1970 * 1_000).rounded()
        let range = Double(WallTime.earliest.milliseconds)...Double(WallTime.latest.milliseconds)
        return range.contains(milliseconds) ? Int64(milliseconds) : nil
    }
}
