import Hashing

/// Scopes: found by app and record type, and by record type alone.
extension IndexStore {
    /// The digest of a name; another one for any name.
    func digest(ofName name: String?) -> WordDigest {
        guard let name else { return WordDigest.zero }
        return hashes.of(name)
    }

    /// The digest of a scope.
    static func digest(application: WordDigest, type: WordDigest) -> WordDigest {
        var digest = type
        digest.mix(word: application.high)
        digest.mix(word: application.low)
        digest.finish()
        return digest
    }

    /// The number of a scope; 0 if there is none.
    func scope(_ digest: WordDigest) -> UInt32 {
        scopeTable.first(digest.tableHash) { scopes[$0].digest == digest }
    }

    /// The first of the scopes of a record type; 0 if there is none.
    func firstScope(type: WordDigest) -> UInt32 {
        typeTable.first(type.tableHash) { scopes[$0].typeDigest == type }
    }

    /// The number of a scope, which gains a user.
    mutating func useScope(_ digest: WordDigest, type: WordDigest) -> UInt32 {
        var number = scope(digest)
        if number == 0 {
            number = scopes.add(IndexScope(digest: digest, typeDigest: type))
            scopeTable.add(digest.tableHash, number)
            recentNames.forgetScopes()
            let first = firstScope(type: type)
            if first == 0 {
                typeTable.add(type.tableHash, number)
            } else {
                scopes.pointer(number).pointee.nextOfType = scopes[first].nextOfType
                scopes.pointer(number).pointee.previousOfType = first
                if scopes[first].nextOfType != 0 { scopes[scopes[first].nextOfType].previousOfType = number }
                scopes.pointer(first).pointee.nextOfType = number
            }
        }
        scopes.pointer(number).pointee.users += 1
        return number
    }

    mutating func releaseScope(_ number: UInt32) {
        scopes.pointer(number).pointee.users -= 1
        let scope = scopes[number]
        guard scope.users == 0 else { return }
        scopeTable.remove(scope.digest.tableHash, number)
        recentNames.forgetScopes()
        if scope.nextOfType != 0 { scopes.pointer(scope.nextOfType).pointee.previousOfType = scope.previousOfType }
        if scope.previousOfType != 0 {
            scopes.pointer(scope.previousOfType).pointee.nextOfType = scope.nextOfType
        } else if scope.nextOfType != 0 {
            typeTable.replace(scope.typeDigest.tableHash, number, by: scope.nextOfType)
        } else {
            typeTable.remove(scope.typeDigest.tableHash, number)
        }
        if scope.shapeCapacity > 0 {
            blocks.release(scope.shapes, wordCount: scope.shapeCapacity * ShapeEntry.wordCount)
        }
        if scope.memberCapacity > 0 {
            blocks.release(scope.members, wordCount: scope.memberCapacity * ScopeMember.wordCount)
        }
        scopes.remove(number)
    }

    /// The scopes that a change is searched in.
    mutating func scopes(of input: MatchInput) -> [UInt32] {
        if let application = input.application {
            if let known = recentNames.scopes(application, input.recordType) { return known }
            let numbers = scopes(application, input.recordType)
            recentNames.remember(scopes: numbers, application, input.recordType)
            return numbers
        }
        var numbers: [UInt32] = []
        for type in types(input.recordType) {
            var number = firstScope(type: type)
            while number != 0 {
                numbers.append(number)
                number = scopes[number].nextOfType
            }
        }
        return numbers
    }

    private func scopes(_ application: String, _ recordType: String?) -> [UInt32] {
        let applications = [digest(ofName: nil), digest(ofName: application)]
        return types(recordType).flatMap { type in
            applications.map { scope(Self.digest(application: $0, type: type)) }.filter { $0 != 0 }
        }
    }

    private func types(_ recordType: String?) -> [WordDigest] {
        [digest(ofName: nil)] + (recordType.map { [digest(ofName: $0)] } ?? [])
    }
}
