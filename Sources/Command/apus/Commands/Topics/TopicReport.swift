import JSON
import PushCore

/// Prints topics, and names in JSON.
enum TopicReport {
    /// One line of a list for people.
    static func line(_ topic: TopicCount) -> String {
        "\(topic.topic)  \(topic.devices) devices  \(topic.users) users"
    }

    /// One line of a list for programs.
    static func json(_ topic: TopicCount) -> String {
        #"{"topic":\#(quoted(topic.topic)),"devices":\#(topic.devices),"users":\#(topic.users)}"#
    }

    /// A text as JSON has it.
    static func quoted(_ text: String) -> String {
        var writer = JSONWriter()
        writer.string(text)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
