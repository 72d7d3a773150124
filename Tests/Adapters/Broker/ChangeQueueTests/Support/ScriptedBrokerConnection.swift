import EventLoop
import Glibc
import PushTestKit

/// One connection of a `ScriptedBroker`, on its loop.
final class ScriptedBrokerConnection {
    private static let protocolHeaderBytes = 8
    private static let frameBytesMaximum: UInt32 = 131_072

    private let number: Int
    private let script: ScriptedBroker.Script
    private let facts: Watched<ScriptedBroker.Facts>
    private let loop: EventLoop
    private var socket: Int32 = -1
    private var registration: EventLoop.Registration?
    private var received: [UInt8] = []
    private var isBegun = false
    private var publishCount = 0
    private var isChannelClosed = false

    init(number: Int, script: ScriptedBroker.Script, facts: Watched<ScriptedBroker.Facts>, loop: EventLoop) {
        self.number = number
        self.script = script
        self.facts = facts
        self.loop = loop
    }

    /// Serves the client; the registration holds the connection until the client leaves.
    func start(_ socket: Int32) {
        self.socket = socket
        registration = try? loop.register(socket, for: .readable) { [self] _ in read() }
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(socket, &buffer, buffer.count, 0)
        if count < 0, errno == EAGAIN { return }
        guard count > 0 else { return end() }
        received += buffer.prefix(count)
        if !isBegun, received.count >= Self.protocolHeaderBytes {
            received.removeFirst(Self.protocolHeaderBytes)
            isBegun = true
            sendStart()
        }
        while isBegun, let frame = AMQPFrame(takenFrom: &received) {
            if frame.type == AMQPFrame.methodType { answer(frame) }
        }
    }

    private func end() {
        if let registration { loop.deregister(registration) }
        registration = nil
        close(socket)
    }

    // MARK: Answers

    private func answer(_ frame: AMQPFrame) {
        switch frame.method {
        case (10, 11): sendTune()
        case (10, 40): reply(frame) { $0.appendShort("") }
        case (20, 10): reply(frame) { $0.appendLong([]) }
        case (10, 50), (20, 40), (60, 10), (85, 10): reply(frame) { _ in }
        case (60, 40): confirm(frame)
        case (40, 10), (50, 10): look(frame)
        case (60, 20): consume(frame)
        case (60, 30): reply(frame) { $0.appendShort(frame.shortString(at: 4).text) }
        case (60, 80):
            facts.update { $0.acknowledged.append([UInt64(number), frame.number(at: 4, count: 8)]) }
        // connection.tune-ok, and channel.close-ok.
        default: break
        }
    }

    /// Looks at a queue or an exchange.
    private func look(_ frame: AMQPFrame) {
        let name = frame.shortString(at: 6).text
        if name.hasSuffix(".work.2") {
            return refuse(frame, code: 404, "NOT_FOUND - no queue '\(name)' in vhost '/'")
        }
        if script.unseenSuffixes.contains(where: name.hasSuffix) {
            return refuse(
                frame, code: 403,
                "ACCESS_REFUSED - configure access to '\(name)' in vhost '/' refused for user 'guest'")
        }
        reply(frame) { answer in
            guard frame.method.0 == 50 else { return }
            answer.appendShort(name)
            answer.append(UInt32(1))
            answer.append(UInt32(0))
        }
    }

    private func consume(_ frame: AMQPFrame) {
        let (queue, next) = frame.shortString(at: 6)
        let tag = frame.shortString(at: next).text
        facts.update { $0.consumedQueues.append(queue) }
        reply(frame) { $0.appendShort(tag) }
        guard queue.hasSuffix(".work") else { return }
        var deliver = AMQPFrame(channel: frame.channel, method: (60, 60))
        deliver.appendShort(tag)
        deliver.append(UInt64(1))
        deliver.append(UInt8(number > 1 ? 1 : 0))
        deliver.appendShort("test.changes")
        deliver.appendShort("test")
        for part in [deliver] + AMQPFrame.content(Array("{}".utf8), channel: frame.channel) { send(part.bytes) }
        guard script.timesFirstConsumerOut, number == 1 else { return }
        var cancel = AMQPFrame(channel: frame.channel, method: (60, 30))
        cancel.appendShort(tag)
        // No answer is expected.
        cancel.append(UInt8(1))
        send(cancel.bytes)
    }

    /// Confirms each publish; on the first channel those before its end wait, and come with it in one piece.
    private func confirm(_ publish: AMQPFrame) {
        guard !isChannelClosed else { return facts.update { $0.publishesAfterClose += 1 } }
        publishCount += 1
        let isLast = number == 1 && publishCount == script.publishesOnFirstChannel
        guard number > 1 || isLast else { return }
        var confirm = AMQPFrame(channel: publish.channel, method: (60, 80))
        confirm.append(UInt64(isLast ? 1 : publishCount))
        confirm.append(UInt8(0))
        guard isLast else { return send(confirm.bytes) }
        isChannelClosed = true
        var close = AMQPFrame(channel: publish.channel, method: (20, 40))
        close.append(UInt16(406))
        close.appendShort("PRECONDITION_FAILED - message size 9 is larger than configured max size 8")
        close.append(UInt16(60))
        close.append(UInt16(40))
        send(confirm.bytes + close.bytes)
    }

    /// Answers with the method that follows the request's, as nearly all do.
    private func reply(_ request: AMQPFrame, _ fill: (inout AMQPFrame) -> Void) {
        var answer = AMQPFrame(channel: request.channel, method: (request.method.0, request.method.1 + 1))
        fill(&answer)
        send(answer.bytes)
    }

    /// Closes the channel because of a request.
    private func refuse(_ request: AMQPFrame, code: UInt16, _ text: String) {
        var answer = AMQPFrame(channel: request.channel, method: (20, 40))
        answer.append(code)
        answer.appendShort(text)
        answer.append(request.method.0)
        answer.append(request.method.1)
        send(answer.bytes)
    }

    private func sendStart() {
        var properties = AMQPFrame(channel: 0, method: (0, 0))
        properties.payload = []
        for (name, value) in [("product", "RabbitMQ"), ("version", script.version)] {
            properties.appendShort(name)
            properties.append(UInt8(ascii: "S"))
            properties.appendLong(Array(value.utf8))
        }
        var start = AMQPFrame(channel: 0, method: (10, 10))
        start.append(UInt8(0))
        start.append(UInt8(9))
        for text in [properties.payload, Array("PLAIN".utf8), Array("en_US".utf8)] { start.appendLong(text) }
        send(start.bytes)
    }

    private func sendTune() {
        var tune = AMQPFrame(channel: 0, method: (10, 30))
        tune.append(UInt16(2_047))
        tune.append(Self.frameBytesMaximum)
        tune.append(UInt16(60))
        send(tune.bytes)
    }

    /// Writes a few bytes, for which the kernel has room.
    private func send(_ bytes: [UInt8]) { _ = Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }
}
