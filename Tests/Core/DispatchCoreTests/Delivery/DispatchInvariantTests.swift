import ChangeEvents
import Notifications
import Testing

@testable import DispatchCore

@Suite("What must hold of the machine between any two calls")
struct DispatchInvariantTests {
    private var machine = Samples.machine(appCount: 2)
    private var actions = DispatchActions()

    init() {
        let devices = [Samples.device("a"), Samples.device("b", app: "other")]
        machine.jobArrived(Samples.job(devices: devices), into: &actions)
        machine.sendWaiting(at: Samples.moment(0), into: &actions)
        machine.jobArrived(Samples.job(number: 2, devices: devices, deliveryClass: .bulk), into: &actions)
    }

    @Test("Nothing is wrong while pushes wait, are out and have failed")
    func sound() {
        #expect(machine.checkInvariants() == [])
    }

    @Test("A count that is wrong is found", arguments: 0..<7)
    mutating func wrong(fault: Int) {
        switch fault {
        case 0: machine.pushCounts[0].accepted += 1
        case 1:
            machine.pushCounts[0].matched += 1
            machine.pushCounts[0].inFlight += 1
        case 2: machine.sendQueues[0].pushWentOut(app: 1)
        case 3: machine.sendQueues[1].waits(7, devices: 3, flow: 0)
        case 4:
            for number in machine.jobs.numbers(where: { _ in true }) {
                machine.jobs.modify(number) { $0.pushesOut += 1 }
            }
        case 5: for number in machine.jobs.numbers(where: { _ in true }) { machine.jobs.remove(number) }
        default: for number in machine.pushes.numbers(where: { _ in true }) { machine.pushes.remove(number) }
        }
        #expect(machine.checkInvariants() != [])
    }
}
