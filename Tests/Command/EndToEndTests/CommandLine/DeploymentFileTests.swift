import Foundation
import PushTestKit
import Testing

/// The demands of deploy/bin/check-kubernetes on rendered objects, as far as the files themselves tell.
@Suite("The manifests of Kubernetes and the services of compose")
struct DeploymentFileTests {
    private static let deploy = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../../deploy").standardizedFileURL

    /// The manifests by their paths.
    private static func manifests() throws -> [String: String] {
        let root = deploy.appendingPathComponent("kubernetes")
        let paths = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
        var texts: [String: String] = [:]
        for path in paths where path.hasSuffix(".yaml") {
            texts[path] = try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
        }
        return texts
    }

    /// Whether a text ends in a digest.
    private static func isPinned(_ text: Substring) -> Bool {
        guard let range = text.range(of: "sha256:") else { return false }
        let digits = text[range.upperBound...]
        return digits.count == 64 && digits.allSatisfy { $0.isHexDigit && !$0.isUppercase }
    }

    @Test("Images are named by digests, not by tags alone, which may come to mean other images")
    func digests() throws {
        let compose = try String(contentsOf: Self.deploy.appendingPathComponent("compose.yaml"), encoding: .utf8)
        let images = compose.split(separator: "\n").filter { $0.hasPrefix("    image: ") }
        #expect(images.count == 3)
        for image in images { #expect(Self.isPinned(image), "\(image)") }
        let overlays = try Self.manifests().filter {
            $0.key.hasSuffix("/kustomization.yaml") && $0.key.hasPrefix("overlays/")
        }
        #expect(overlays.count == 4)
        for (path, text) in overlays {
            let digests = text.split(separator: "\n").filter { $0.hasPrefix("    digest: ") }
            #expect(digests.count == 1 && digests.allSatisfy(Self.isPinned), "\(path)")
        }
    }

    @Test("No manifest uses what kustomize has deprecated")
    func deprecations() throws {
        for (path, text) in try Self.manifests() {
            let members = text.split(separator: "\n").map { $0.prefix { $0 != ":" } }
            for old in ["bases", "patchesJson6902", "patchesStrategicMerge", "commonLabels", "vars"] {
                #expect(!members.contains { $0 == old }, "\(path): \(old)")
            }
        }
    }

    @Test("A pod mounts single entries of secrets, those that its variables name")
    func secrets() throws {
        var podCount = 0
        for (path, text) in try Self.manifests() where text.contains("APUS_") && text.contains("containers:") {
            podCount += 1
            func values(_ prefix: String) -> Set<Substring> {
                Set(
                    text.split(separator: "\n").map { $0.drop { $0 == " " } }.filter { $0.hasPrefix(prefix) }
                        .map { $0.dropFirst(prefix.count) })
            }
            #expect(values("value: /run/apus/secrets/") == values("- key: "), "\(path)")
            #expect(values("- key: ") == values("path: ").filter { !$0.hasPrefix("/") }, "\(path)")
            // The keys of APNs are files of the operator's own names.
            #expect(values("secretName: ") == (path == "base/worker.yaml" ? ["apus-apns-keys"] : []), "\(path)")
        }
        #expect(podCount == 7)
    }
}
