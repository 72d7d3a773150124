/// A defect of a worker.
enum Defect {
    case none
    case settlesBeforeAnswers
    case settlesBeforeConfirms
    case takesRefusedForConfirmed
    case forgetsFailures
    case settlesTwice
    case prunesWhatIsRejected
    case leavesOutADevice
    case pushesToStrangers
    case forgetsTheRegistry
    case neglectsAnApp
}

/// Names a defect by a type, because a simulation makes its workers itself.
protocol Defective {
    static var defect: Defect { get }
}

enum Sound: Defective { static let defect = Defect.none }
enum SettlesBeforeAnswers: Defective { static let defect = Defect.settlesBeforeAnswers }
enum SettlesBeforeConfirms: Defective { static let defect = Defect.settlesBeforeConfirms }
enum TakesRefusedForConfirmed: Defective { static let defect = Defect.takesRefusedForConfirmed }
enum ForgetsFailures: Defective { static let defect = Defect.forgetsFailures }
enum SettlesTwice: Defective { static let defect = Defect.settlesTwice }
enum PrunesWhatIsRejected: Defective { static let defect = Defect.prunesWhatIsRejected }
enum LeavesOutADevice: Defective { static let defect = Defect.leavesOutADevice }
enum PushesToStrangers: Defective { static let defect = Defect.pushesToStrangers }
enum ForgetsTheRegistry: Defective { static let defect = Defect.forgetsTheRegistry }
enum NeglectsAnApp: Defective { static let defect = Defect.neglectsAnApp }
