public import RegistryCore

/// Walks through the pages of an audience.
public enum RegistryPages {
    /// All devices of an audience, page by page.
    ///
    /// - Parameters:
    ///   - request: the audience to find.
    ///   - registry: where.
    ///   - limit: the most devices in one page.
    ///   - between: called between two pages.
    /// - Returns: the devices of all pages, in order.
    /// - Throws: `RegistryViolation` if a page is too long, if an empty one is followed by another, or if its count
    ///   differs from its devices; errors of the registry and of `between`.
    public static func all(
        of request: AudienceRequest, in registry: any Registry, limit: Int, between: () throws -> Void = {}
    ) throws -> [Recipient] {
        var request = request
        var devices: [Recipient] = []
        while true {
            let pages = try registry.resolve([request], limit: limit)
            guard pages.count == 1 else {
                throw RegistryViolation("one request was answered with \(pages.count) pages")
            }
            guard pages[0].devices.count <= limit else {
                throw RegistryViolation("a page of at most \(limit) has \(pages[0].devices.count) devices")
            }
            let extent = AudienceExtent(deviceCount: pages[0].devices.count, next: pages[0].next)
            let isWhole = request.excludedDeviceID == nil && request.onlyDeviceIDs == nil && request.through == nil
            let measured =
                isWhole && request.asOfFanOut == nil
                ? try registry.measure(request.audience, after: request.cursor, limit: limit) : extent
            guard measured == extent else {
                throw RegistryViolation("a page that is \(extent) was measured as \(measured), for \(request)")
            }
            devices += pages[0].devices
            guard let next = pages[0].next else { return devices }
            guard !pages[0].devices.isEmpty else {
                throw RegistryViolation("an empty page says that another follows, for \(request)")
            }
            request.cursor = next
            try between()
        }
    }
}
