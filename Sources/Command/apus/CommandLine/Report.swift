import Essentials
import JSON

/// A thing that a command shows: values with a name for programs, a label for people, or both.
///
/// A dictionary literal makes one for programs. A value that is nil is left out of both forms.
struct Report: ExpressibleByDictionaryLiteral {
    /// One value.
    struct Field {
        /// The member in JSON; nil if only people see the value.
        fileprivate let key: String?
        fileprivate let value: (any ReportValue)?
        /// Nil if only programs see the value.
        fileprivate let label: String?
        fileprivate let text: String?

        /// Creates a field.
        ///
        /// - Parameters:
        ///   - key: the member in JSON; nil if only people see it.
        ///   - value: nil to leave it out.
        ///   - label: the name for people; nil if only programs see it.
        ///   - text: the value for people, if it is another one.
        init(_ key: String?, _ value: (any ReportValue)?, label: String? = nil, text: String? = nil) {
            self.key = key
            self.value = value
            self.label = label
            self.text = text
        }

        /// Creates a field of a moment in milliseconds since 1970.
        init(time key: String?, _ milliseconds: Int64, label: String) {
            self.init(key, milliseconds, label: label, text: WallTime.text(milliseconds: milliseconds))
        }
    }

    private var fields: [Field]

    init(_ fields: [Field]) { self.fields = fields }

    init(dictionaryLiteral members: (String, (any ReportValue)?)...) {
        fields = members.map { Field($0, $1) }
    }

    static func + (first: Report, second: Report) -> Report { Report(first.fields + second.fields) }

    /// The labels and the values below each other.
    ///
    /// - Parameter gap: how many blanks are behind the longest label.
    /// - Returns: a line for each value that has a label.
    func lines(gap: Int) -> [String] {
        let rows = fields.compactMap { field -> (label: String, text: String)? in
            let text = field.text ?? field.value.map { "\($0)" }
            return field.label.flatMap { label in text.map { (label: label, text: $0) } }
        }
        let width = (rows.map(\.label.count).max() ?? 0) + gap
        return rows.map { $0.label + String(repeating: " ", count: width - $0.label.count) + $0.text }
    }
}

/// A value that a report can hold.
protocol ReportValue {
    /// Writes the value as JSON.
    func write(to writer: inout JSONWriter)
}

extension ReportValue {
    /// The value as a document.
    var json: [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.bytes
    }
}

extension Report: ReportValue {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            for case (let key?, let value?) in fields.lazy.map({ ($0.key, $0.value) }) {
                writer.key(dynamic: key)
                value.write(to: &writer)
            }
        }
    }

    /// A value that is `null` in place of being left out.
    struct OrNull: ReportValue {
        private let value: (any ReportValue)?

        init(_ value: (any ReportValue)?) { self.value = value }

        func write(to writer: inout JSONWriter) {
            if let value { value.write(to: &writer) } else { writer.null() }
        }
    }

    /// A value that is JSON already.
    struct Raw: ReportValue {
        private let json: [UInt8]

        init(_ json: [UInt8]) { self.json = json }

        func write(to writer: inout JSONWriter) { writer.raw(json) }
    }
}

extension String: ReportValue {
    func write(to writer: inout JSONWriter) { writer.string(self) }
}

extension Int: ReportValue {
    func write(to writer: inout JSONWriter) { writer.integer(self) }
}

extension Int64: ReportValue {
    func write(to writer: inout JSONWriter) { writer.integer(self) }
}

extension UInt64: ReportValue {
    func write(to writer: inout JSONWriter) { writer.integer(self) }
}

extension Double: ReportValue {
    func write(to writer: inout JSONWriter) { writer.double(self) }
}

extension Bool: ReportValue {
    func write(to writer: inout JSONWriter) { writer.boolean(self) }
}

extension Array: ReportValue where Element: ReportValue {
    func write(to writer: inout JSONWriter) {
        writer.array { writer in for element in self { element.write(to: &writer) } }
    }
}
