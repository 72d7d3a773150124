import HTTPClient
import Testing
import TraceExport
import Tracing

@Suite("OpenTelemetry's environment variables")
struct TraceVariableTests {
    private static let endpoint = ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"]

    private func read(_ variables: [String: String]) throws(TraceConfigurationError) -> TraceExportConfiguration? {
        try TraceExportConfiguration(environment: variables) { $0 == "/ca.pem" }
    }

    private func readOn(_ variables: [String: String]) throws -> TraceExportConfiguration {
        try #require(try read(Self.endpoint.merging(variables) { $1 }))
    }

    @Test(
        "Nothing is exported unless an address is set, and nothing else is looked at",
        arguments: [
            [:], ["OTEL_EXPORTER_OTLP_ENDPOINT": ""],
            ["OTEL_TRACES_SAMPLER": "nonsense", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"],
            ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318", "OTEL_SDK_DISABLED": "TRUE"],
            ["OTEL_EXPORTER_OTLP_ENDPOINT": "nonsense", "OTEL_TRACES_EXPORTER": "none"],
            ["OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://collector:4318"],
        ])
    func off(_ variables: [String: String]) throws {
        #expect(try read(variables) == nil)
    }

    @Test("Without further variables everything has the standard's default")
    func defaults() throws {
        let configuration = try readOn([:])
        #expect(configuration.endpoint == "http://collector:4318" && configuration.path == "/v1/traces")
        #expect(configuration.fields.isEmpty && configuration.resource.isEmpty)
        #expect(configuration.destination.caFile.isEmpty)
        #expect(configuration.attemptTimeoutNanoseconds == 10_000_000_000)
        #expect(configuration.limits == TraceExportLimits())
        #expect(configuration.sampler == Sampler(.alwaysOn, isParentBased: true))
    }

    @Test("The address of all signals gets a path, that of traces is taken as it is")
    func addresses() throws {
        for (address, endpoint, path) in [
            ("http://collector", "http://collector:80", "/v1/traces"),
            ("HTTPS://Collector.example", "https://Collector.example:443", "/v1/traces"),
            ("https://[::1]:4318/", "https://[::1]:4318", "/v1/traces"),
            ("http://127.0.0.1:4318/mine/", "http://127.0.0.1:4318", "/mine/v1/traces"),
            ("http://127.0.0.1:4318/mine", "http://127.0.0.1:4318", "/mine/v1/traces"),
        ] {
            let configuration = try #require(try read(["OTEL_EXPORTER_OTLP_ENDPOINT": address]))
            #expect(configuration.endpoint == endpoint && configuration.path == path)
        }
        for (address, path) in [
            ("http://c:1", "/"), ("http://c:1/", "/"), ("http://c:1/v1/traces?key=1#x", "/v1/traces?key=1"),
            ("http://c:1?key=1", "/?key=1"),
        ] {
            let configuration = try readOn(["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": address])
            #expect(configuration.endpoint == "http://c:1" && configuration.path == path)
        }
    }

    @Test(
        "An address that cannot be used is an error without the address, which may hold a password",
        arguments: [
            "collector:4318", "ftp://c", "http://", "http:///v1", "http://c:0", "http://c:65536", "http://c:x",
            "http://user:secret@c", "http://c/ä", "http://c/a b", "http://[::1", "http://[::1]x", "http://[zz]:1",
            "http://c:-1", "http://c:+1", "http:// c", "grpc://c:4317",
        ])
    func badAddress(_ address: String) {
        #expect {
            try read(["OTEL_EXPORTER_OTLP_ENDPOINT": address])
        } throws: { error in
            "\(error)"
                == "OTEL_EXPORTER_OTLP_ENDPOINT cannot be read; it must be http://HOST:PORT/PATH or"
                + " https://HOST:PORT/PATH, without a user and without blanks"
        }
    }

    @Test("Headers are read with their signs, those of traces before those of all signals")
    func headers() throws {
        let configuration = try readOn([
            "OTEL_EXPORTER_OTLP_HEADERS": "api-key=ignored",
            "OTEL_EXPORTER_OTLP_TRACES_HEADERS": " api-key = a%2Cb=c ,x=%20y%20,,empty=",
        ])
        #expect(configuration.fields.map(\.name) == ["api-key", "x", "empty"])
        #expect(configuration.fields.map(\.value) == ["a,b=c", " y ", ""])
        #expect(try readOn(["OTEL_EXPORTER_OTLP_HEADERS": "a=1"]).fields.map(\.value) == ["1"])
        for text in [
            "secret", "=secret", "a=%", "a=%4", "a=%zz", "a=%0asecret", "a b=secret", "a=secrét", ",", "a:=1",
        ] {
            #expect {
                try readOn(["OTEL_EXPORTER_OTLP_HEADERS": text])
            } throws: { error in
                "\(error)"
                    == "OTEL_EXPORTER_OTLP_HEADERS cannot be read; it must be NAME=VALUE,NAME=VALUE in ASCII, other"
                    + " signs as %XX"
            }
        }
    }

    @Test("Every sampler of the standard is known but those that ask a server")
    func samplers() throws {
        let samplers: [(String, String?, Sampler)] = [
            ("always_on", nil, Sampler(.alwaysOn, isParentBased: false)),
            ("ALWAYS_OFF", nil, Sampler(.alwaysOff, isParentBased: false)),
            ("traceidratio", "0.25", Sampler(.ratio(0.25), isParentBased: false)),
            ("parentbased_always_on", "ignored", Sampler(.alwaysOn, isParentBased: true)),
            ("parentbased_always_off", nil, Sampler(.alwaysOff, isParentBased: true)),
            ("parentbased_traceidratio", "1e-3", Sampler(.ratio(0.001), isParentBased: true)),
            ("parentbased_traceidratio", nil, Sampler(.ratio(1), isParentBased: true)),
        ]
        for (name, argument, sampler) in samplers {
            var variables = ["OTEL_TRACES_SAMPLER": name]
            variables["OTEL_TRACES_SAMPLER_ARG"] = argument
            #expect(try readOn(variables).sampler == sampler)
        }
    }

    @Test("The service's name counts more than that among the attributes")
    func resource() throws {
        let resource = try readOn([
            "OTEL_RESOURCE_ATTRIBUTES": "service.name=other,deployment.environment=pro%64,team=a%2Cb%3Dc%20%C3%A4",
            "OTEL_SERVICE_NAME": "pushes",
        ]).resource
        #expect(
            resource == [
                SpanAttribute("deployment.environment", "prod"), SpanAttribute("team", "a,b=c ä"),
                SpanAttribute("service.name", "pushes"),
            ])
    }

    @Test("Bounds and times are read, and 0 milliseconds of a timeout are as long as can be")
    func bounds() throws {
        let configuration = try readOn([
            "OTEL_BSP_MAX_QUEUE_SIZE": "100", "OTEL_BSP_SCHEDULE_DELAY": "0", "OTEL_BSP_EXPORT_TIMEOUT": "1500",
            "OTEL_EXPORTER_OTLP_TIMEOUT": "1", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT": "0",
            "OTEL_EXPORTER_OTLP_CERTIFICATE": "/ca.pem", "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
            "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "HTTP/Protobuf",
        ])
        #expect(configuration.limits.queueMaximum == 100 && configuration.limits.batchMaximum == 100)
        #expect(configuration.limits.delayNanoseconds == 0)
        #expect(configuration.limits.batchLifeNanoseconds == 1_500_000_000)
        #expect(configuration.attemptTimeoutNanoseconds == 3_600_000_000_000)
        #expect(configuration.destination.caFile == "/ca.pem")
        #expect(try readOn(["OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "2048"]).limits.batchMaximum == 2_048)
    }

    @Test(
        "A value that cannot be used is an error that names the variable, the value and the rule",
        arguments: [
            ("OTEL_SDK_DISABLED", "1", "true or false"),
            ("OTEL_TRACES_EXPORTER", "zipkin", "otlp or none, because this program has no other exporter"),
            (
                "OTEL_EXPORTER_OTLP_PROTOCOL", "grpc",
                "http/protobuf, the only protocol of this program; collectors serve it at port 4318"
            ),
            ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip", "none, because this program does not compress spans"),
            (
                "OTEL_EXPORTER_OTLP_CLIENT_KEY", "key.pem",
                "unset, because this program has no certificate for collectors; use headers"
            ),
            (
                "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", "/nowhere",
                "a file of PEM certificates that this process can read"
            ),
            (
                "OTEL_TRACES_SAMPLER", "jaeger_remote",
                "always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off or"
                    + " parentbased_traceidratio"
            ),
            (
                "OTEL_RESOURCE_ATTRIBUTES", "a", "NAME=VALUE,NAME=VALUE, with a comma and an equals sign as %2C and %3D"
            ),
            ("OTEL_BSP_MAX_QUEUE_SIZE", "0", "a whole number from 1 to 1000000"),
            ("OTEL_BSP_MAX_QUEUE_SIZE", "+5", "a whole number from 1 to 1000000"),
            ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "2049", "a whole number from 1 to 2048"),
            ("OTEL_BSP_SCHEDULE_DELAY", "-1", "a whole number of milliseconds, at most 3600000"),
            ("OTEL_BSP_EXPORT_TIMEOUT", "99999999999999999999", "a whole number of milliseconds, at most 3600000"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "10s", "a whole number of milliseconds, at most 3600000"),
        ])
    func bad(_ name: String, _ value: String, _ rule: String) {
        #expect {
            try readOn([name: value])
        } throws: { error in
            "\(error)" == "\(name) is \"\(value)\"; it must be \(rule)"
        }
    }

    @Test("A ratio outside its bounds is an error", arguments: ["1.5", "-0.1", "x", "nan", "inf"])
    func badRatio(_ value: String) {
        #expect {
            try readOn(["OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": value])
        } throws: { error in
            "\(error)" == "OTEL_TRACES_SAMPLER_ARG is \"\(value)\"; it must be a number from 0 to 1"
        }
    }
}
