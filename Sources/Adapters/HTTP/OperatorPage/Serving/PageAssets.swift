import COperatorPage
import Crypto
import Essentials
import HTTPServer

/// The files of the page, which are part of the program.
struct PageAssets: Sendable {
    private struct Asset: Sendable {
        let type: String
        let bytes: [UInt8]
        let entityTag: String
    }

    private let assets: [String: Asset]

    /// Copies the files out of the program's constants, which costs their size once.
    init() {
        var assets: [String: Asset] = [:]
        for index in 0..<apus_page_asset_count() {
            guard let asset = apus_page_asset_at(index)?.pointee, let name = asset.name, let type = asset.type else {
                continue
            }
            let bytes = Array(UnsafeBufferPointer(start: asset.bytes, count: asset.count))
            let digest = HexadecimalDigits.text(Array(SHA256Digest.digest(bytes).prefix(12)))
            assets[String(cString: name)] = Asset(
                type: String(cString: type), bytes: bytes, entityTag: "\"\(digest)\"")
        }
        self.assets = assets
    }

    /// The page itself, which is never kept, so that it always names the files of this program.
    func index() -> HTTPResponse? {
        assets["index.html"].map { .content(200, type: $0.type, $0.bytes) }
    }

    /// A file by its name; browsers keep it, and ask each time whether it is still the same.
    func file(_ name: String, for request: HTTPRequest) -> HTTPResponse? {
        guard let asset = assets[name] else { return nil }
        let fields = [HTTPField("ETag", asset.entityTag), HTTPField("Cache-Control", "no-cache")]
        let known = (request.field("if-none-match") ?? "").split(separator: ",").map { tag in
            let tag = tag.filter { $0 != " " }
            return tag.hasPrefix("W/") ? String(tag.dropFirst(2)) : String(tag)
        }
        guard !known.contains(asset.entityTag) else { return HTTPResponse(status: 304, fields: fields) }
        var response = HTTPResponse.content(200, type: asset.type, asset.bytes)
        response.fields += fields
        return response
    }
}
