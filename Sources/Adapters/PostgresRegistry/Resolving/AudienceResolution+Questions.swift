import Essentials
import Notifications
import PushCore

extension AudienceResolution {
    /// Sorts the requests into the statements that answer them; a statement without probes is not asked.
    ///
    /// A few devices of an audience that may be large are looked up by their identifiers; for audiences that are a list
    /// of devices anyway, the list is shortened instead.
    func makeQuestions() -> [AudienceQuestion] {
        var datasets = datasetQuestion()
        var topics = ownerQuestion(AudienceCalls.topicSubscribers) { _, row in row }
        var identities = ownerQuestion(AudienceCalls.identityDevices, position: Self.ownerPosition)
        var users = ownerQuestion(AudienceCalls.userDevices, position: Self.ownerPosition)
        var devices = deviceQuestion()
        var tokens = tokenQuestion()
        var onlyAmongDatasets = onlyDatasetQuestion()
        var onlyAmongTopics = onlyTopicQuestion()
        var onlyAmongOwners = onlyOwnerQuestion()
        for (index, request) in requests.enumerated() {
            switch request.audience {
            case .dataset(let key):
                guard RegistryRules.isDatasetName(key.datasetName) else { continue }
                addProbes(index, whole: &datasets, only: &onlyAmongDatasets)
            case .topic: addProbes(index, whole: &topics, only: &onlyAmongTopics)
            case .identities(let names, _): addProbes(index, names, whole: &identities, only: &onlyAmongOwners)
            case .users(let names, _): addProbes(index, names, whole: &users, only: &onlyAmongOwners)
            case .devices(let names, _):
                let only = request.onlyDeviceIDs.map { Set($0.map(ByteText.init)) }
                addElements(index, of: names.map(ByteText.init), to: &devices) { only?.contains($0) ?? true }
            case .tokens(let list, _): addElements(index, of: list, to: &tokens)
            }
        }
        return [
            datasets, topics, identities, users, devices, tokens, onlyAmongDatasets, onlyAmongTopics, onlyAmongOwners,
        ]
    }

    // MARK: Probes

    /// Adds a request whose pages go on after a row.
    private func addProbes(_ index: Int, whole: inout AudienceQuestion, only: inout AudienceQuestion) {
        if let names = requests[index].onlyDeviceIDs {
            addElements(index, of: names.map(ByteText.init), to: &only)
        } else {
            whole.add(Probe(request: index, element: 0, after: position(index)))
        }
    }

    /// Adds a request for the devices of identities or users, whose pages go on after a row of one of them.
    private func addProbes(
        _ index: Int, _ owners: [String], whole: inout AudienceQuestion, only: inout AudienceQuestion
    ) {
        if let names = requests[index].onlyDeviceIDs {
            return addElements(index, of: names.map(ByteText.init), to: &only)
        }
        let start = OwnerPosition(encoded: position(index))
        for element in FirstOccurrences<ByteText>(of: owners, from: start.element) {
            if isBeyond(Self.ownerPosition(Probe(request: index, element: element, after: 0), 0), index) { break }
            whole.add(Probe(request: index, element: element, after: element == start.element ? start.row : 0))
        }
    }

    /// Adds the elements of a list whose pages go on at an index of it.
    private func addElements<Element: Hashable>(
        _ index: Int, of list: [Element], to question: inout AudienceQuestion,
        where condition: (Element) -> Bool = { _ in true }
    ) {
        let start = Int(min(position(index), Int64(list.count)))
        for element in FirstOccurrences(of: list, from: start) where condition(list[element]) {
            if isBeyond(Int64(element + 1), index) { break }
            question.add(Probe(request: index, element: element, after: 0))
        }
    }

    private static func ownerPosition(_ probe: Probe, _ row: Int64) -> Int64 {
        OwnerPosition(element: probe.element, row: row).encoded
    }

    private static func elementPosition(_ probe: Probe, _ row: Int64) -> Int64 { Int64(probe.element + 1) }

    // MARK: Statements

    private func numbers(_ probes: [Probe]) -> [Parameter] {
        [.integers(probes.map { Int64($0.request) }), .integers(probes.map { Int64($0.element) })]
    }

    private func excluded(_ probes: [Probe]) -> Parameter {
        .optionalTexts(probes.map { requests[$0.request].excludedDeviceID })
    }

    /// For each probe the fan-out that memberships have to be older than; greater than all if they need not be.
    private func asOfFanOut(_ probes: [Probe]) -> Parameter {
        .integers(probes.map { requests[$0.request].asOfFanOut ?? .max })
    }

    private func only(_ probes: [Probe]) -> Parameter {
        .optionalTexts(probes.map { requests[$0.request].onlyDeviceIDs?[$0.element] })
    }

    private func datasetParameters(_ probes: [Probe]) -> [Parameter] {
        let keys = probes.map { probe -> DatasetKey? in
            if case .dataset(let key) = requests[probe.request].audience { key } else { nil }
        }
        return [
            .optionalTexts(keys.map { $0?.identityPoolID }), .optionalTexts(keys.map { $0?.identityID }),
            .optionalTexts(keys.map { $0?.datasetName }),
        ]
    }

    private func datasetQuestion() -> AudienceQuestion {
        AudienceQuestion { [self] probes in
            AudienceCalls.datasetSubscribers(
                numbers(probes) + [.integer(rowsMaximum)] + datasetParameters(probes) + [
                    .integers(probes.map(\.after)), excluded(probes), asOfFanOut(probes),
                ], isCounting: isCounting)
        } position: { _, row in
            row
        }
    }

    /// A question whose probes are a name and an app each.
    private func ownerQuestion(
        _ call: @escaping ([Parameter], Bool) -> Call, position: @escaping (Probe, Int64) -> Int64
    ) -> AudienceQuestion {
        AudienceQuestion(
            call: { [self] probes in
                call(
                    numbers(probes) + [.integer(rowsMaximum), names(probes), apps(probes)] + [
                        .integers(probes.map(\.after)), excluded(probes), asOfFanOut(probes),
                    ], isCounting)
            }, position: position)
    }

    private func deviceQuestion() -> AudienceQuestion {
        AudienceQuestion(
            call: { [self] probes in
                AudienceCalls.namedDevices(numbers(probes) + [names(probes), apps(probes)])
            }, position: Self.elementPosition)
    }

    private func tokenQuestion() -> AudienceQuestion {
        let only = requests.map { request -> (tokens: Set<DeviceToken>, deviceIDs: Set<ByteText>)? in
            guard case .tokens = request.audience, let list = request.onlyDeviceIDs else { return nil }
            return (Set(list.compactMap { DeviceToken(hexadecimal: $0) }), Set(list.map(ByteText.init)))
        }
        return AudienceQuestion(
            call: { [self] probes in
                AudienceCalls.tokenDevices(
                    numbers(probes) + [.byteLists(probes.map { token($0)?.bytes ?? [] }), apps(probes)])
            },
            makeUp: { [self] probe in
                guard case .tokens(_, let app) = requests[probe.request].audience, let token = token(probe),
                    only[probe.request]?.tokens.contains(token) ?? true
                else { return nil }
                return Recipient(unregistered: token, app: app)
            },
            isMember: { [self] probe, rows, row in
                guard let only = only[probe.request] else { return true }
                return only.deviceIDs.contains(ByteText(rows.text(row, 3)))
                    || token(probe).map { only.tokens.contains($0) } ?? false
            }, position: Self.elementPosition)
    }

    private func onlyDatasetQuestion() -> AudienceQuestion {
        AudienceQuestion(
            call: { [self] probes in
                AudienceCalls.namedDatasetSubscribers(numbers(probes) + [only(probes)] + datasetParameters(probes))
            }, position: Self.elementPosition)
    }

    private func onlyTopicQuestion() -> AudienceQuestion {
        AudienceQuestion(
            call: { [self] probes in
                AudienceCalls.namedTopicSubscribers(numbers(probes) + [only(probes), apps(probes), names(probes)])
            }, position: Self.elementPosition)
    }

    private func onlyOwnerQuestion() -> AudienceQuestion {
        let owners = requests.map { request -> Set<ByteText> in
            guard request.onlyDeviceIDs != nil else { return [] }
            switch request.audience {
            case .identities(let names, _), .users(let names, _): return Set(names.map(ByteText.init))
            default: return []
            }
        }
        return AudienceQuestion(
            call: { [self] probes in
                AudienceCalls.namedDevices(numbers(probes) + [only(probes), apps(probes)])
            },
            isMember: { [self] probe, rows, row in
                if case .users = requests[probe.request].audience {
                    return rows.optionalText(row, 8).map { owners[probe.request].contains(ByteText($0)) } ?? false
                }
                return rows.optionalText(row, 7).map { owners[probe.request].contains(ByteText($0)) } ?? false
            }, position: Self.elementPosition)
    }

    // MARK: The parts of an audience

    /// The name that a probe looks for: the element of the audience's list, or its topic.
    private func names(_ probes: [Probe]) -> Parameter {
        .optionalTexts(
            probes.map { probe in
                switch requests[probe.request].audience {
                case .devices(let list, _), .identities(let list, _), .users(let list, _): list[probe.element]
                case .topic(let topic, _): topic
                case .dataset, .tokens: nil
                }
            })
    }

    private func apps(_ probes: [Probe]) -> Parameter {
        .optionalTexts(
            probes.map { probe in
                switch requests[probe.request].audience {
                case .devices(_, let app), .tokens(_, let app), .identities(_, let app), .users(_, let app),
                    .topic(_, let app):
                    app
                case .dataset: nil
                }
            })
    }

    private func token(_ probe: Probe) -> DeviceToken? {
        guard case .tokens(let list, _) = requests[probe.request].audience else { return nil }
        return list[probe.element]
    }
}
