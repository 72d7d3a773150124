/// Scopes: found by app and record type, and by record type alone.
extension IndexStore {
    /// The digest of a name; another one for any name.
    func digest(ofName name: String?) -> WordDigest {
        guard let name else { return WordDigest(high: 0, low: 0) }
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
            let first = firstScope(type: type)
            if first == 0 {
                typeTable.add(type.tableHash, number)
            } else {
                scopes[number].nextOfType = scopes[first].nextOfType
                scopes[number].previousOfType = first
                if scopes[first].nextOfType != 0 { scopes[scopes[first].nextOfType].previousOfType = number }
                scopes[first].nextOfType = number
            }
        }
        scopes[number].users += 1
        return number
    }

    mutating func releaseScope(_ number: UInt32) {
        scopes[number].users -= 1
        let scope = scopes[number]
        guard scope.users == 0 else { return }
        scopeTable.remove(scope.digest.tableHash, number)
        if scope.nextOfType != 0 { scopes[scope.nextOfType].previousOfType = scope.previousOfType }
        if scope.previousOfType != 0 {
            scopes[scope.previousOfType].nextOfType = scope.nextOfType
        } else if scope.nextOfType != 0 {
            typeTable.replace(scope.typeDigest.tableHash, number, by: scope.nextOfType)
        } else {
            typeTable.remove(scope.typeDigest.tableHash, number)
        }
        if scope.shapeCapacity > 0 { blocks.release(scope.shapes, wordCount: scope.shapeCapacity) }
        scopes.remove(number)
    }
}
