import ChangeEvents
import Dispatcher
import EventLoop
import JSON
import Messages
import Notifications
import RegistryCore
import WorkerConfiguration

/// Shows the pushes of each event in place of publishing it.
final class PreviewPublisher: MessagePublisher {
    private let core: LoopBound<PreviewPublisherCore>

    /// Creates a publisher, which opens the registry with the first event.
    ///
    /// - Throws: `EventLoopError` if there is no thread.
    init(_ configuration: Configuration, output: StandardOutput, isJSON: Bool) throws {
        let loop = try EventLoop(name: "preview")
        core = LoopBound(PreviewPublisherCore(configuration, output: output, isJSON: isJSON), to: loop)
    }

    func start(handler: any PublishHandler) { core.loop.submit { [core] in core.value.handler = handler } }

    func publish(_ messages: [OutgoingMessage]) { core.loop.submit { [core] in core.value.show(messages) } }

    func close(deadlineSeconds: Double) async -> Bool {
        // What was published before is shown before.
        try? await core.loop.run { [core] in core.value.close() }
        core.loop.stopAndJoin()
        return true
    }
}

/// The part of the publisher that lives on its loop, with the registry.
private final class PreviewPublisherCore {
    /// How many devices of one content are named for people.
    private static let devicesShownMaximum = 20

    private let configuration: Configuration
    private let output: StandardOutput
    private let isJSON: Bool
    private var registry: (any RegistryStore)?

    var handler: (any PublishHandler)?

    init(_ configuration: Configuration, output: StandardOutput, isJSON: Bool) {
        self.configuration = configuration
        self.output = output
        self.isJSON = isJSON
    }

    func show(_ messages: [OutgoingMessage]) {
        for message in messages {
            do throws(RegistryError) {
                let preview = try EventPreview(
                    of: message.message, configuration, try openedRegistry(),
                    nowMilliseconds: WallClock.nowMilliseconds())
                isJSON ? write(preview, message.message) : show(preview, message.message)
                handler?.publishesEnded([(message.identifier, .confirmed)])
            } catch {
                handler?.publishesEnded([(message.identifier, .returned(error.message))])
            }
        }
    }

    func close() { registry = nil }

    private func openedRegistry() throws(RegistryError) -> any RegistryStore {
        if let registry { return registry }
        let opened = try configuration.registry.open(mode: .readOnly, quotas: configuration.registryAPI.quotas)
        registry = opened
        return opened
    }

    // MARK: For people

    private func show(_ preview: EventPreview, _ message: Message) {
        let count = preview.pushCount
        let more = preview.isPartial ? ", and more, because the audience is large" : ""
        let name = message.properties.messageID ?? "the event"
        output.lines("\(name): \(count) \(count == 1 ? "push" : "pushes")\(more)")
        for content in preview.contents {
            output.lines("")
            output.lines("\(content.service.title) to \(names(content.devices.map(\.deviceID)))")
            for (name, value) in content.fields { output.lines("  \(name): \(value)") }
            output.lines("  \(String(decoding: content.body, as: UTF8.self))")
        }
        if !preview.unmatched.isEmpty { output.lines("\nno device: \(names(preview.unmatched))") }
        if preview.leftOutCount > 0 {
            output.lines("\nleft out: \(preview.leftOutCount) devices without a token of the push's kind")
        }
        for parked in preview.parked {
            let whole = parked.names.isEmpty ? "the event" : names(parked.names)
            let place = parked.isDeadLetter ? "dead letter" : "waits"
            output.lines("\n\(place): \(whole): \(parked.reason): \(parked.detail)")
        }
    }

    private func names(_ all: [String]) -> String {
        let rest = all.count - Self.devicesShownMaximum
        let shown = all.prefix(Self.devicesShownMaximum).joined(separator: ", ")
        return rest > 0 ? "\(shown) and \(rest) more" : shown
    }

    // MARK: For programs

    private func write(_ preview: EventPreview, _ message: Message) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("id", message.properties.messageID)
        writer.member("pushCount", preview.pushCount)
        writer.member("isPartial", preview.isPartial)
        writer.array("contents") { writer in
            for content in preview.contents {
                writer.beginObject()
                writer.member("service", content.service.rawValue)
                writer.object("fields") { writer in
                    for (name, value) in content.fields { writer.member(dynamic: name, value) }
                }
                writer.key("body")
                writer.raw(content.body)
                writer.array("deviceIds", texts: content.devices.map(\.deviceID))
                writer.endObject()
            }
        }
        writer.array("unmatched", texts: preview.unmatched)
        writer.member("leftOutCount", preview.leftOutCount)
        writer.array("parked") { writer in
            for parked in preview.parked {
                writer.beginObject()
                writer.member("isDeadLetter", parked.isDeadLetter)
                writer.member("reason", parked.reason)
                writer.member("detail", parked.detail)
                writer.array("names", texts: parked.names)
                writer.endObject()
            }
        }
        writer.endObject()
        output.line(writer.bytes)
    }
}
