import ChangeEvents
import Notifications
import Predicates
import RegistryCore
import Testing

@testable import DispatchCore

@Suite("The second copy of a push")
struct ReplacementTests {
    private static let shown: Notification = {
        var notification = Notification()
        notification.body = "Hello"
        return notification
    }()

    private static let silent: Notification = {
        var notification = Notification()
        notification.isContentAvailable = true
        return notification
    }()

    /// The content for iPhones of a requested push.
    private func requested(
        _ notification: Notification, event: String, options: PushOptions = PushOptions()
    ) throws -> PushContent {
        let push = RequestedPush(
            app: "chat", audience: .topic("news", app: "chat"), notification: notification, options: options)
        // A renderer of its own each time, as the workers that push the two copies have.
        var renderer = ContentRenderer(apps: [.init(routes: [Samples.app], identityPoolIDs: [])])
        let event = ChangeEvent(identifier: event, source: "/shop", time: nil, kind: .push(push))
        return try #require(try renderer.validate(event, expiresAt: nil).first).content.get()
    }

    /// The content for iPhones that a subscription makes of a change.
    private func subscribed(
        _ subscriptionID: String = "s", isSilent: Bool = false, event: String, record: String = "r"
    ) throws -> PushContent {
        var subscription = RecordSubscription(
            key: SubscriptionKey(app: "chat", owner: .user("anna"), subscriptionID: subscriptionID),
            recordType: "Song", savedAtMilliseconds: 0)
        if !isSilent { subscription.notification.alertBody = "New" }
        subscription.notification.shouldSendContentAvailable = isSilent
        let change = RecordChange(operation: .created, recordType: "Song", recordName: record, fields: RecordFields())
        var renderer = ContentRenderer(apps: [.init(routes: [Samples.app], identityPoolIDs: [])])
        return try renderer.render(
            PushedSubscription(subscription, row: 1), change,
            notificationID: EventDigest(source: "/shop", identifier: event).uuid, badge: nil, expiresAt: nil,
            route: Samples.app
        ).rendering.content.get()
    }

    @Test("An alert of the same event takes the place of the first, and one of another event does not")
    func alerts() throws {
        let first = try requested(Self.shown, event: "1").collapseID
        #expect(first?.hasPrefix("event-") == true && first?.utf8.count == 38)
        #expect(try requested(Self.shown, event: "1").collapseID == first)
        #expect(try requested(Self.shown, event: "2").collapseID != first)
    }

    @Test("A backend's own identifier stays, and a silent push of a backend gets none")
    func others() throws {
        let options = PushOptions(collapseID: "mine")
        #expect(try requested(Self.shown, event: "1", options: options).collapseID == "mine")
        #expect(try requested(Self.silent, event: "1").collapseID == nil)
    }

    @Test("What a subscription shows of an event is replaced by its copy, and not by that of another subscription")
    func subscriptions() throws {
        let first = try subscribed(event: "1").collapseID
        #expect(first?.hasPrefix("event-") == true)
        #expect(try subscribed(event: "1").collapseID == first)
        #expect(try subscribed(event: "2").collapseID != first)
        #expect(try subscribed("t", event: "1").collapseID != first)
    }

    @Test("Silent pushes of a subscription about one record are one, and those about two records are two")
    func silentSubscriptions() throws {
        let first = try subscribed(isSilent: true, event: "1").collapseID
        #expect(first?.hasPrefix("record-") == true)
        #expect(try subscribed(isSilent: true, event: "2").collapseID == first)
        #expect(try subscribed(isSilent: true, event: "1", record: "q").collapseID != first)
        #expect(try subscribed("t", isSilent: true, event: "1").collapseID != first)
    }
}
