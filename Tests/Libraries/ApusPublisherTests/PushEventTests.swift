import ApusPublisher
import ChangeEvents
import Foundation
import Messages
import Notifications
import Testing

@Suite("ApusPublisher: requested pushes")
struct PushEventTests {
    private static func decode(_ push: Push) throws -> RequestedPush {
        let event = try SampleEvents.source.pushRequested(push)
        var message = Message(body: event.json)
        message.properties.contentType = "application/cloudevents+json"
        guard case .push(let decoded) = try EventDecoder().decode(message).kind else {
            throw PublishedNoPush()
        }
        return decoded
    }

    private struct PublishedNoPush: Error {}

    @Test("A worker reads every kind of target")
    func targets() throws {
        let token = String(repeating: "0a", count: 32)
        let identity = SampleEvents.dataset.identityID
        let targets: [(Push.Target, Audience)] = [
            (.devices(["d"]), .devices(["d"], app: "chat")), (.users(["ann"]), .users(["ann"], app: "chat")),
            (.identities([identity]), .identities([identity], app: "chat")),
            (.topic("news"), .topic("news", app: "chat")),
            (
                .deviceTokens([token]),
                .tokens([try #require(DeviceToken(hexadecimal: token))], app: "chat")
            ),
        ]
        for (target, audience) in targets {
            #expect(try Self.decode(Push(app: "chat", to: target, .init(body: "Hello"))).audience == audience)
        }
    }

    @Test("A worker reads the options, and what differs at some push services")
    func optionsAndVariants() throws {
        var push = Push(app: "chat", to: .users(["ann"]), .init(title: "Mei", body: "Hello"))
        push.kind = .alert
        push.priority = .conserving
        push.expiration = Date(timeIntervalSince1970: 1_769_882_400.9)
        push.collapseID = "room-7"
        push.apple = Push.Variant(.init(body: "Hello, iPhone"), priority: .immediate)
        push.android = Push.Variant(.init(data: ["room": 7]), collapseID: "room")
        push.browsers = Push.Variant(.init(title: "Mei Chen"))
        let decoded = try Self.decode(push)
        #expect(
            decoded.options
                == PushOptions(
                    pushType: .alert, priority: .conserving, expirationSeconds: 1_769_882_400, collapseID: "room-7"))
        #expect(decoded.content(for: .apns).notification.body == "Hello, iPhone")
        #expect(decoded.content(for: .apns).options.priority == .immediate)
        #expect(decoded.content(for: .fcm).notification.customData.map(\.key) == ["room"])
        #expect(decoded.content(for: .adm).options.collapseID == "room")
        #expect(decoded.content(for: .webPush).notification.title == "Mei Chen")
        #expect(decoded.notification.title == "Mei" && decoded.variants.count == 3)
        for kind in Push.Kind.allCases { #expect(PushType(rawValue: kind.rawValue) != nil) }
        #expect(Push.Kind.allCases.count == PushType.allCases.count)
    }

    @Test("A worker reads every member of an alert")
    func alert() throws {
        var content = Push.Notification(title: "Mei", body: "Hello", data: ["room": "7", "tags": [1, 2]])
        content.subtitle = "Room 7"
        content.actionLocalizationKey = "open"
        content.launchImage = "launch.png"
        content.image = "https://chat.example.com/7.jpg"
        content.badge = 3
        content.sound = .critical(name: "ping.caf", volume: 0.5)
        content.threadID = "room-7"
        content.category = "message"
        content.isContentAvailable = true
        content.isContentMutable = true
        content.targetContentID = "window"
        content.interruptionLevel = .timeSensitive
        content.relevanceScore = 0.25
        content.filterCriteria = "work"
        let read = try Self.decode(Push(app: "chat", to: .users(["ann"]), content)).notification
        #expect(read.title == "Mei" && read.subtitle == "Room 7" && read.body == "Hello")
        #expect(read.actionLocalizationKey == "open" && read.launchImage == "launch.png")
        #expect(read.image == "https://chat.example.com/7.jpg" && read.badge == 3)
        #expect(read.sound == .critical(name: "ping.caf", volume: 0.5))
        #expect(read.threadID == "room-7" && read.category == "message")
        #expect(read.isContentAvailable && read.isContentMutable)
        #expect(read.targetContentID == "window" && read.interruptionLevel == .timeSensitive)
        #expect(read.relevanceScore == 0.25 && read.filterCriteria == "work")
        #expect(read.customData.map(\.key) == ["room", "tags"])
        #expect(read.customData.map { String(decoding: $0.value.bytes, as: UTF8.self) } == [#""7""#, "[1,2]"])
    }

    @Test("A worker reads a push that reloads widgets")
    func widgets() throws {
        var content = Push.Notification()
        content.isContentChanged = true
        let read = try Self.decode(Push(app: "scores", to: .users(["ann"]), content))
        #expect(read.notification.isContentChanged && read.pushType == .widgets)
    }

    @Test("A worker reads texts in the language of the device")
    func localizedAlert() throws {
        var content = Push.Notification()
        content.localizedTitle = .init("title", arguments: ["a"])
        content.localizedSubtitle = .init("subtitle")
        content.localizedBody = .init("body", arguments: ["b", "c"])
        let read = try Self.decode(Push(app: "chat", to: .users(["ann"]), content)).notification
        #expect(read.localizedTitle == .init(key: "title", arguments: ["a"]))
        #expect(read.localizedSubtitle == .init(key: "subtitle"))
        #expect(read.localizedBody == .init(key: "body", arguments: ["b", "c"]))
    }

    @Test("A worker reads the end of a Live Activity, which goes to the activity's own token")
    func endOfLiveActivity() throws {
        var content = Push.Notification()
        content.activityEvent = .end
        content.timestamp = Date(timeIntervalSince1970: 1_769_860_800)
        content.dismissalDate = Date(timeIntervalSince1970: 1_769_861_000)
        content.contentState = ["score": 3]
        var push = Push(app: "scores", to: .deviceTokens([String(repeating: "0a", count: 32)]), content)
        push.kind = .liveactivity
        let read = try Self.decode(push).notification
        #expect(read.liveActivityEvent == .end && read.dismissalDateSeconds == 1_769_861_000)
        push.target = .users(["ann"])
        let error = try #require(throws: PublisherError.self) { try SampleEvents.source.pushRequested(push) }
        #expect(error.code == .eventInvalid && error.message.contains("data.deviceTokens"), "\(error)")
    }

    @Test("A worker reads every member of the start of a Live Activity")
    func liveActivity() throws {
        var content = Push.Notification(title: "Kickoff", body: "Now")
        content.sound = .named("default")
        content.activityEvent = .start
        content.timestamp = Date(timeIntervalSince1970: 1_769_860_800)
        content.staleDate = Date(timeIntervalSince1970: 1_769_860_900)
        content.contentState = ["score": 0]
        content.attributesType = "MatchAttributes"
        content.attributes = ["teams": ["A", "B"]]
        content.inputPushChannel = "dHN0LXNyY2gtY2hubA=="
        var push = Push(app: "scores", to: .devices(["d-1"]), content)
        push.kind = .liveactivity
        let read = try Self.decode(push).notification
        #expect(read.liveActivityEvent == .start && read.timestampSeconds == 1_769_860_800)
        #expect(read.staleDateSeconds == 1_769_860_900)
        #expect(read.contentState?.bytes == Array(#"{"score":0}"#.utf8))
        #expect(read.attributes?.bytes == Array(#"{"teams":["A","B"]}"#.utf8))
        #expect(read.attributesType == "MatchAttributes" && read.inputPushChannel == "dHN0LXNyY2gtY2hubA==")

        content.inputPushChannel = nil
        content.requestsInputPushToken = true
        content.sound = .named("ping.caf")
        push.notification = content
        let other = try Self.decode(push).notification
        #expect(other.requestsInputPushToken && other.sound == .named("ping.caf"))
    }
}
