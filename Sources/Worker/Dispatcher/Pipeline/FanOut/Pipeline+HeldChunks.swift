import Essentials
import EventLoop
import Metrics
import Notifications
import PushCore

/// An app that APNs does not answer keeps its next chunks out of the way of other apps.
///
/// A worker holds few chunks. If all of them were of an app whose pushes hang, the fan-outs of others would stand
/// behind them in the queue. So what has not begun of such an app waits in a retry queue, and comes back from there by
/// way of the work queue. With one app there is nobody to make room for, and nothing is held back.
extension Pipeline {
    private static let fanOutLookDelayNanoseconds: UInt64 = 1_000_000_000

    /// Whether an app that a flow pushes to has devices that wait to be sent to, so that no more are to be looked up.
    func isFanOutSaturated(_ flow: String) -> Bool {
        let apps = renderer.appIndices(ofFlow: flow)
        guard !apps.isEmpty else { return machine.isSaturated(.fanout) }
        return apps.contains { machine.isWaiting(.fanout, app: $0) }
    }

    /// Parks the chunks that have not begun of flows that hang.
    func holdBackHangingFanOuts() {
        guard machine.health.isShared, !waitingFanOuts.isEmpty else { return }
        let now = parts.now()
        updateHangingFlows(now.monotonic)
        for flow in hangingFlows {
            for delivery in waitingFanOuts.removeAll(flow: flow, where: { chunks[$0.tag] == nil }) {
                holdBack(delivery, flow: flow, at: now)
            }
        }
        // Nothing may arrive or end until then.
        guard !waitingFanOuts.isEmpty, !chunks.isEmpty, !isFanOutLookScheduled else { return }
        isFanOutLookScheduled = true
        loop.schedule(afterNanoseconds: Self.fanOutLookDelayNanoseconds) { [self] in
            isFanOutLookScheduled = false
            scheduleFlush()
        }
    }

    private func updateHangingFlows(_ now: MonotonicTime) {
        var oldest: [String: MonotonicTime] = [:]
        for progress in chunks.values where progress.pagesOut > 0 {
            oldest[progress.flow] = min(oldest[progress.flow] ?? progress.outSince, progress.outSince)
        }
        // A flow of which nothing is out any more gets another try.
        hangingFlows = hangingFlows.filter { oldest[$0] != nil }
        for (flow, outSince) in oldest {
            if machine.health.isHanging(apps: renderer.appIndices(ofFlow: flow), outSince: outSince, at: now) {
                if hangingFlows.insert(flow).inserted { actions.notices.append(.health(.fanOutHangs(flow: flow))) }
            } else {
                hangingFlows.remove(flow)
            }
        }
    }

    private func holdBack(_ delivery: Delivery, flow: String, at now: Moment) {
        let parking = ParkingRecord(of: delivery, nowMilliseconds: now.wall.milliseconds)
        let isHeldBack = machine.deliveryHeldBack(
            delivery.tag, message: delivery.message, parking: parking, at: now, into: &actions)
        if isHeldBack {
            metrics.fanOuts.chunksDelayed.add()
        } else {
            waitingFanOuts.append(delivery, flow: flow)
        }
    }
}
