import Glibc

/// The metrics that every process has, by the names that Prometheus's own client libraries gave them.
public enum ProcessMetrics {
    /// Registers processor time, memory, descriptors, start time and the build.
    ///
    /// - Parameters:
    ///   - registry: where to.
    ///   - product: the name of the program, which begins the name of the build's metric.
    ///   - version: the version of the program.
    public static func register(in registry: MetricsRegistry, product: String, version: String) {
        registry.gauge(
            "\(product)_build_info", help: "Which version runs; the value is always 1.",
            labels: [.init("version", version)]
        ).set(1)
        registry.counter(
            "process_cpu_seconds_total", help: "Processor time of the process, in seconds.",
            read: processorSeconds)
        registry.gauge("process_resident_memory_bytes", help: "Memory of the process that is in RAM, in bytes.") {
            Double(residentPages()) * Double(sysconf(Int32(_SC_PAGESIZE)))
        }
        registry.gauge("process_open_fds", help: "How many file descriptors are open.") { Double(openDescriptors()) }
        registry.gauge("process_max_fds", help: "How many file descriptors may be open.", read: descriptorsMaximum)
        let start = startSeconds()
        registry.gauge("process_start_time_seconds", help: "When the process began, in seconds since 1970.") { start }
    }

    private static func processorSeconds() -> Double { seconds(of: CLOCK_PROCESS_CPUTIME_ID) }

    /// The second number in `statm`, counted in pages (proc(5)).
    private static func residentPages() -> Int {
        let fields = text(of: "/proc/self/statm").split(separator: " ")
        return fields.count > 1 ? Int(fields[1]) ?? 0 : 0
    }

    private static func openDescriptors() -> Int {
        guard let folder = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        // Without the entries "." and "..", and the descriptor of this listing.
        return max(0, count - 3)
    }

    private static func descriptorsMaximum() -> Double {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 0 }
        return Double(limit.rlim_cur)
    }

    /// The 22nd number in `stat`, counted in ticks since the machine began (proc(5)).
    private static func startSeconds() -> Double {
        let bootSeconds = seconds(of: CLOCK_REALTIME) - seconds(of: CLOCK_BOOTTIME)
        // The second field, the name of the program, may hold blanks and parentheses.
        let fields = text(of: "/proc/self/stat").split(separator: ")").last?.split(separator: " ") ?? []
        let ticks = fields.count > 19 ? Double(fields[19]) ?? 0 : 0
        return bootSeconds + ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    private static func seconds(of clock: Int32) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1_000_000_000
    }

    private static func text(of path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = read(descriptor, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
