public import Essentials

/// Finds the silent subscription, if there is one, that already pushes to a device of a page: it says which owners a
/// registry has to look up, and marks the entries that its answers cover.
///
/// Each owner is asked for once, however many entries and devices of the page are its own: a user can have thousands of
/// silent subscriptions and each of them an entry for each of the user's devices. Only the lowest of an owner's rows
/// that the event concerns is kept, so memory does not grow with their number either.
public struct SilentCovering {
    /// The owner of subscriptions that push to a device.
    public enum Owner: Hashable, Sendable {
        /// Its user.
        case user(ByteText, app: Int64)
        /// The device itself.
        case device(Int64, app: Int64)

        /// The user; nil if it is a device.
        public var userID: String? { if case .user(let userID, _) = self { userID.text } else { nil } }

        /// The row of the device; nil if it is a user.
        public var device: Int64? { if case .device(let row, _) = self { row } else { nil } }

        /// The row of the app.
        public var app: Int64 {
            switch self {
            case .user(_, let app), .device(_, let app): app
            }
        }
    }

    /// An owner whose silent subscriptions that fire always are asked for, and which of them matter.
    public struct Question: Hashable, Sendable {
        /// The owner.
        public let owner: Owner
        /// Only rows from this one on.
        public fileprivate(set) var first: Int64
        /// Only rows below this one.
        public fileprivate(set) var below: Int64
        /// The lowest row that was found and that the event concerns.
        public fileprivate(set) var lowest: Int64?
    }

    /// The devices that the entries are of, each once.
    public private(set) var deviceIDs: [String] = []
    /// The owners of these devices, each once.
    public private(set) var questions: [Question] = []

    private let request: SubscriberRequest
    /// The entries of each device.
    private var entries: [[Int]] = []
    /// The row below which a subscription covers one of a device's entries.
    private var below: [Int64] = []
    private var questionIndices: [Owner: Int] = [:]
    /// The questions that are about each device.
    private var questionsOfDevice: [[Int]] = []

    /// Begins the search; nil if there are no entries to be covered.
    ///
    /// - Parameters:
    ///   - page: the page, as it was found.
    ///   - request: the request that the page answers.
    public init?(_ page: SubscriberPage, of request: SubscriberRequest) {
        self.request = request
        var devices: [ByteText: Int] = [:]
        for entry in page.entriesToCover(request) {
            let deviceID = page.entries[entry].recipient.deviceID
            let device = devices[ByteText(deviceID)] ?? deviceIDs.count
            if device == deviceIDs.count {
                devices[ByteText(deviceID)] = device
                deviceIDs.append(deviceID)
                entries.append([])
                below.append(.min)
            }
            entries[device].append(entry)
            let subscription = page.subscriptions[page.entries[entry].subscription]
            below[device] = max(below[device], subscription.firesOnce ? .max : subscription.row)
        }
        guard !deviceIDs.isEmpty, !request.subscriptions.isEmpty else { return nil }
        questionsOfDevice = Array(repeating: [], count: deviceIDs.count)
    }

    /// Records an owner of subscriptions that push to a device.
    ///
    /// - Parameters:
    ///   - owner: the device itself, or its user.
    ///   - device: its index in `deviceIDs`.
    public mutating func add(_ owner: Owner, ofDevice device: Int) {
        let index = questionIndices[owner] ?? questions.count
        if index == questions.count {
            questionIndices[owner] = index
            questions.append(Question(owner: owner, first: request.subscriptions.first ?? .max, below: .min))
        }
        questions[index].below = max(questions[index].below, below[device])
        questionsOfDevice[device].append(index)
    }

    /// Takes a row that answers a question; they may come in any order.
    public mutating func found(_ row: Int64, question: Int) {
        guard questions[question].lowest.map({ row < $0 }) ?? true, request.concerns(row) else { return }
        questions[question].lowest = row
    }

    /// Notes that all rows of a question up to one have been found, and asks only for those above it.
    public mutating func foundAll(through row: Int64, question: Int) {
        questions[question].first = row < .max ? row + 1 : .max
    }

    /// Marks the entries that are covered, when all is found.
    public func cover(_ page: inout SubscriberPage) {
        for (entries, questions) in zip(entries, questionsOfDevice) {
            guard let lowest = questions.compactMap({ self.questions[$0].lowest }).min() else { continue }
            for entry in entries { page.cover(entry, by: [lowest], of: request) }
        }
    }
}
