import ChangeEvents
import Essentials
import Notifications
import RegistryCore

/// Gathers the pushes of one page of subscribers, rendering each text once.
struct SubscriberJob {
    private struct RenderingKey: Hashable {
        var subscription: Int64
        var route: Int
        var badge: Int?
    }

    private let change: RecordChange
    private let notificationID: String
    private let expiresAt: WallTime?
    private var assignmentsByKey: [RenderingKey: PushAssignment] = [:]
    private var silent: Set<ByteText> = []
    /// The indices of renderings that show nothing though they should.
    private var reduced: Set<Int> = []

    private(set) var devices: [Recipient] = []
    private(set) var assignments: [PushAssignment] = []
    private(set) var renderings: [AppRendering] = []
    /// How many pushes show nothing because not even their shortest texts fit, by the index of their app.
    private(set) var reducedCounts: [Int: Int] = [:]

    init(change: RecordChange, digest: EventDigest, expiresAt: WallTime?) {
        self.change = change
        notificationID = digest.uuid
        self.expiresAt = expiresAt
    }

    /// Adds a push.
    ///
    /// - Returns: false if the device gets another silent push of the same event, which says as much.
    mutating func add(
        _ recipient: Recipient, _ subscription: PushedSubscription, badge: Int?, renderer: inout ContentRenderer
    ) -> Bool {
        if !subscription.notification.isVisible, !silent.insert(ByteText(recipient.deviceID)).inserted {
            return false
        }
        let assignment = assignment(recipient, subscription, badge: badge, renderer: &renderer)
        devices.append(recipient)
        assignments.append(assignment)
        if let index = assignment.rendering, reduced.contains(index) {
            reducedCounts[renderings[index].app.index, default: 0] += 1
        }
        return true
    }

    private mutating func assignment(
        _ recipient: Recipient, _ subscription: PushedSubscription, badge: Int?, renderer: inout ContentRenderer
    ) -> PushAssignment {
        guard let route = renderer.route(to: recipient) else {
            return PushAssignment(rendering: nil, subscription: subscription.row)
        }
        let badge = subscription.notification.shouldBadge ? badge : nil
        let key = RenderingKey(subscription: subscription.row, route: route.index, badge: badge)
        if let known = assignmentsByKey[key] { return known }
        var assignment = PushAssignment(rendering: nil, subscription: subscription.row)
        do throws(EventRejection) {
            let (rendering, isReduced) = try renderer.render(
                subscription, change, notificationID: notificationID, badge: badge, expiresAt: expiresAt,
                route: route)
            assignment.rendering = renderings.count
            if isReduced { reduced.insert(renderings.count) }
            renderings.append(rendering)
        } catch {
            assignment.problem = error
        }
        assignmentsByKey[key] = assignment
        return assignment
    }
}
