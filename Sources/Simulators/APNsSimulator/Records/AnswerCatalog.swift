import PushServiceSimulator

/// All answers that a simulator can give, prepared once, so that an answer on its way is only a number.
struct AnswerCatalog {
    /// The number of the answer that accepts.
    static let accepted = 0

    private(set) var answers: [PreparedAnswer]
    private var indexes: [ServiceAnswer: Int] = [:]
    private let rejectionIndexes: [Rejection: Int]

    /// Prepares Apple's answers and those of a script.
    init(script: AnswerScript) {
        let apple = Rejection.allCases.map { ServiceAnswer.apns($0) }
        answers = []
        for answer in [.accepted] + apple + script.answers where indexes[answer] == nil {
            indexes[answer] = answers.count
            answers.append(PreparedAnswer(answer))
        }
        let indexes = indexes
        rejectionIndexes = Dictionary(
            uniqueKeysWithValues: Rejection.allCases.compactMap { rejection in
                indexes[.apns(rejection)].map { (rejection, $0) }
            })
    }

    /// The number of one of Apple's reasons.
    func index(of rejection: Rejection) -> Int { rejectionIndexes[rejection] ?? Self.accepted }

    /// The number of an answer of the script.
    func index(of answer: ServiceAnswer) -> Int { indexes[answer] ?? Self.accepted }
}

/// An encoded answer; a class, so that using one counts one reference and not four.
final class PreparedAnswer {
    let answer: ServiceAnswer
    let status: [UInt8]

    init(_ answer: ServiceAnswer) {
        self.answer = answer
        status = Array(String(answer.status).utf8)
    }
}
