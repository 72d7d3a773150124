import APNsTransport
import ConnectionPool
import Crypto
import Foundation
import Notifications
import PushTestKit
import ServiceClient
import Testing

@Suite("Client: servers that are not ours")
struct IndependentServerTests {
    private let accepted = AttemptOutcome.answered(PushAnswer(status: 200))
    private let folder: TemporaryFolder
    private let trustAnchorsFile: String

    init() throws {
        folder = try TemporaryFolder()
        let now = Int64(Date().timeIntervalSince1970)
        let identity = try ServerIdentity.selfSigned(
            names: ["127.0.0.1"], notBeforeSeconds: now - 3_600, notAfterSeconds: now + 86_400)
        trustAnchorsFile = try folder.write("certificate.pem", identity.certificateChainPEM)
        try folder.write("key.pem", identity.privateKeyPEM)
    }

    /// Sends pushes and expects each to be accepted.
    private func send(_ count: Int, to server: RunningServer) async throws -> ClientFixture {
        let fixture = try ClientFixture(port: server.port, trustAnchorsFile: trustAnchorsFile) { $0.connections = 2 }
        for start in stride(from: 0, to: count, by: 1_000) {
            // As any sender, it holds back when enough is outstanding.
            _ = await fixture.results.results.wait { $0.count + 20_000 > start }
            fixture.send(start..<min(count, start + 1_000))
        }
        let results = await fixture.results.wait(count: count)
        let odd = results.filter { $0.outcome != accepted }
        #expect(odd.isEmpty, "\(odd.count), first \(odd.prefix(3)), \(server.errors.suffix(500))")
        #expect(Set(results.map(\.identifier)).count == count)
        await fixture.client.close()
        return fixture
    }

    @Test("nghttpd, which ends each answer with an empty DATA frame")
    func nghttpd() async throws {
        let server = try await RunningServer.start(package: "nghttp2-server", in: folder) { port in
            [
                "/usr/sbin/nghttpd", "--address=127.0.0.1", "--echo-upload", "-m", "50", "\(port)", "key.pem",
                "certificate.pem",
            ]
        }
        _ = try await send(5_000, to: server)
        await server.stop()
    }

    @Test("nginx, which says GOAWAY after every hundred requests, and answers each of 100,000 once")
    func nginx() async throws {
        let server = try await RunningServer.start(package: "nginx-light", in: folder) { port in
            try folder.write(
                "nginx.conf",
                """
                daemon off; master_process off; pid nginx.pid; error_log stderr warn;
                events { worker_connections 256; }
                http {
                    log_format path "$uri $status"; access_log access.log path;
                    client_body_temp_path a; proxy_temp_path b; fastcgi_temp_path c; uwsgi_temp_path d;
                    scgi_temp_path e;
                    server {
                        listen 127.0.0.1:\(port) ssl http2;
                        ssl_certificate certificate.pem; ssl_certificate_key key.pem;
                        keepalive_requests 100;
                        location /3/device/ { add_header apns-id x; return 200; }
                    }
                }
                """)
            return ["/usr/sbin/nginx", "-p", folder.path, "-c", "nginx.conf", "-e", "stderr"]
        }
        let fixture = try await send(100_000, to: server)
        #expect(fixture.log.lines.value.count { $0.contains("push.connection.goaway") } >= 950)
        await server.stop()
        let lines = try folder.read("access.log").split(separator: "\n")
        #expect(lines.count == 100_000)
        #expect(Set(lines).count == 100_000)
        #expect(lines.allSatisfy { $0.hasSuffix(" 200") })
    }

    @Test("Node's http2, which closes its sessions in the middle of the load")
    func node() async throws {
        let server = try await RunningServer.start(package: "nodejs", in: folder) { port in
            try folder.write(
                "server.js",
                """
                const http2 = require('http2'), fs = require('fs');
                const server = http2.createSecureServer({
                    key: fs.readFileSync('key.pem'), cert: fs.readFileSync('certificate.pem'),
                    settings: { maxConcurrentStreams: 100 },
                });
                let requests = 0;
                server.on('stream', (stream, headers) => {
                    stream.on('error', () => {});
                    stream.resume();
                    stream.on('end', () => {
                        stream.respond({ ':status': 200, 'apns-id': headers['apns-id'] }, { endStream: true });
                        const session = stream.session;
                        if (++requests % 500 !== 0 || !session) return;
                        // Version 18 says no GOAWAY when it closes, and drops what it has not written yet.
                        session.goaway(0);
                        setTimeout(() => session.close(), 20);
                    });
                });
                server.listen(\(port), '127.0.0.1');
                """)
            return ["/usr/bin/node", "server.js"]
        }
        let fixture = try await send(5_000, to: server)
        #expect(fixture.log.lines.value.contains { $0.contains("push.connection.goaway") })
        await server.stop()
    }
}
