internal import CUTF8Proc

/// A form into which text is brought so that equal text has equal bytes.
///
/// Swift compares strings by canonical equivalence, and a hash of their bytes does not: text is brought into a form
/// once, where it comes in, and compared by its bytes from then on. Text in ASCII costs no more than a look at its
/// bytes.
/// Source of the forms: Unicode Standard Annex #15 (NFC) and the Unicode Standard, section 3.13 (case folding); made by
/// utf8proc.
public enum TextForm: Sendable {
    /// Composed (NFC): two spellings of the same characters become one.
    case canonical
    /// Composed, without the difference of upper and lower case.
    case caseFolded
    /// Composed, without the differences of case and of diacritics: how words are searched for.
    case searchFolded

    /// The text in this form.
    public func applied(to text: String) -> String {
        var text = text
        let ready: String?? = text.withUTF8 { bytes in
            guard let isPlain = Self.ascii(bytes) else { return nil }
            return .some(self == .canonical || isPlain ? nil : Self.lowercased(bytes))
        }
        // An ASCII text is its own form, or becomes it by changing A to Z.
        if let ready { return ready ?? text }
        return mapped(text)
    }

    /// Whether the bytes are ASCII without A to Z; nil if they are not ASCII at all.
    private static func ascii(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool? {
        var all: UInt8 = 0
        var hasUppercase = false
        for byte in bytes {
            all |= byte
            hasUppercase = hasUppercase || (byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z"))
        }
        return all < 0x80 ? !hasUppercase : nil
    }

    private static func lowercased(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        String(unsafeUninitializedCapacity: bytes.count) { buffer in
            for (index, byte) in bytes.enumerated() {
                let isUppercase = byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z")
                buffer[index] = isUppercase ? byte | 0x20 : byte
            }
            return bytes.count
        }
    }

    private func mapped(_ text: String) -> String {
        var text = text
        let options =
            switch self {
            case .canonical: apus_utf8proc_canonical()
            case .caseFolded: apus_utf8proc_folded()
            case .searchFolded: apus_utf8proc_search()
            }
        let form: String? = text.withUTF8 { bytes in
            var result: UnsafeMutablePointer<UInt8>?
            let count = apus_utf8proc_map(bytes.baseAddress, bytes.count, &result, options)
            guard let result else { return nil }
            defer { free(result) }
            guard count >= 0 else { return nil }
            return String(decoding: UnsafeBufferPointer(start: result, count: count), as: UTF8.self)
        }
        // It fails only without memory; a Swift string is always valid UTF-8.
        return form ?? text
    }
}
