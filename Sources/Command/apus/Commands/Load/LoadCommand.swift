import ChangeQueue
import LoadGenerator
import RegistryCore
import WorkerConfiguration

/// `apus load`.
struct LoadCommand: Command {
    let name = "load"
    let summary = "Load a deployment with events, and measure how long their pushes take"
    let help = CommandHelp(
        discussion: """
            Publishes events at a rate of your choice, and measures each from the moment when
            it was MEANT to be published to the push server's answer. The loop is open: no
            event waits for an earlier one, and if RabbitMQ or this command falls behind, the
            delay counts.

            The command plays APNs itself, at the endpoint of the configuration, so run it
            before or while workers run with the same configuration. It writes ca_file, and
            key_file if it is missing. Or it reads the record of a running 'apus simulate'
            (--record). Both are on this machine, whose clock measures everything.

            Devices are registered as apus-load-…, 1000 by default, and stay for the next run
            until --clean-up or --remove-devices. A push to an unregistered token comes first:
            without its arrival nothing else is published. The command refuses configurations
            that push to Apple, and brokers on other machines without --allow-remote.

            Profiles (--profile):
              one-to-one  requested pushes, each to a user with one device
              datasets    changed datasets, each of an identity with one device
              records     created records, each matched by the subscription of one device
              fan-out     requested pushes to a topic with --audience devices
              mixed       60 % one-to-one, 20 % datasets, 19 % records, 1 % fan-out

            Patterns (--pattern), around the mean of --rate:
              steady      always the same
              bursts      every five seconds, half a second of five times the rate
              day         a day from midnight to midnight, compressed into --time

            The exit code is 75 if pushes were missing or events refused, and with
            --find-capacity if no rate held.
            """,
        examples: [
            .init("apus load --rate 500 --time 20", "Loads the deployment of apus.toml; run 'apus run' beside it."),
            .init(
                "apus load --rate 2000 --arrivals poisson --html report.html",
                "Random arrivals, and a page with charts."),
            .init(
                "apus load --profile mixed --pattern day --rate 300 --time 5m",
                "A whole day of mixed traffic in five minutes."),
            .init(
                "apus load --profile fan-out --devices 10000 --audience 10000 --rate 0.5",
                "An event to ten thousand devices every two seconds."),
            .init(
                "apus load --variable-rate 100:10 --variable-rate 1000:5 --time 60",
                "Ten seconds at 100/s, five at 1000/s, again and again."),
            .init(
                "apus load --find-capacity --p99 50ms --json > capacity.json",
                "The highest rate at which 99 % of the pushes take at most 50 ms."),
            .init("apus load --remove-devices", "Removes the devices of earlier runs."),
        ],
        exitCodes: [
            .noInput, .unavailable, .cannotCreate, .inputOutput, .temporaryFailure, .noPermission, .configuration,
        ]
    )
    let options = LoadFlags.all

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let options = try LoadOptions(invocation)
        let target = try LoadTarget(invocation)
        let devices = LoadDevices(app: target.app)
        if invocation.has(LoadFlags.removeDevices) {
            let count = try DeviceRegistry.use(invocation, mode: .existing) { registry, _ in
                try devices.remove(from: registry)
            }
            invocation.show(["removed": count], "removed \(count) devices")
            return .ok
        }
        do throws(ChangeQueueError) { _ = try await target.broker.checkConnection() } catch {
            throw CommandFailure(error)
        }
        let (plan, addressing) = try prepare(devices, options, target, invocation)
        let depths: QueueDepthReader
        do throws(ChangeQueueError) {
            depths = try await QueueDepthReader.connect(
                target.broker,
                retryDelaysMilliseconds: target.configuration.retry.delays.map { Int64($0.milliseconds) })
        } catch { throw CommandFailure(error) }
        let record: LoadRecord
        do {
            record =
                if let path = invocation.string(LoadFlags.record) { try await LoadRecord.follow(path) } else {
                    try await LoadRecord.simulate(target)
                }
        } catch {
            await depths.close()
            throw error
        }
        let run = try LoadRun(
            options, target, plan: plan, addressing: addressing, record: record, depths: depths)
        let outcome: (result: LoadResult, search: CapacitySearch?)
        do { outcome = try await measure(run, options) } catch {
            await close(run, record, depths)
            throw error
        }
        await close(run, record, depths)
        if invocation.has(LoadFlags.cleanUp) {
            _ = try DeviceRegistry.use(invocation, mode: .existing) { registry, _ in try devices.remove(from: registry)
            }
        }
        return try report(outcome.result, outcome.search, invocation)
    }

    private func close(_ run: LoadRun, _ record: LoadRecord, _ depths: QueueDepthReader) async {
        run.close()
        await record.stop()
        await depths.close()
    }

    private func prepare(
        _ devices: LoadDevices, _ options: LoadOptions, _ target: LoadTarget, _ invocation: CommandInvocation
    ) throws -> (LoadPlan, LoadEventWriter.Addressing) {
        let hasPool = !target.app.identityPools.isEmpty
        guard options.profile != .datasets || hasPool else {
            throw CommandFailure(
                .configuration, "the app \"\(target.app.name)\" has no identity_pools, so it has no datasets")
        }
        guard invocation.has(LoadFlags.existing) else {
            let plan = options.plan(hasDatasets: hasPool, deviceCount: options.deviceCount)
            try DeviceRegistry.use(invocation, mode: .create, quotas: .unlimited) { registry, _ in
                try devices.register(plan, in: registry)
            }
            return (plan, .users)
        }
        guard options.profile == .oneToOne else {
            throw CommandFailure.usage("--existing-devices goes with the profile one-to-one only")
        }
        let identifiers = try DeviceRegistry.use(invocation, mode: .existing) { registry, _ in
            try devices.existing(options.deviceCount, in: registry)
        }
        guard !identifiers.isEmpty else {
            throw CommandFailure(.unavailable, "the registry has no devices of the app \"\(target.app.name)\"")
        }
        return (options.plan(hasDatasets: hasPool, deviceCount: identifiers.count), .devices(identifiers))
    }

    // MARK: Measuring

    private func measure(
        _ run: LoadRun, _ options: LoadOptions
    ) async throws -> (result: LoadResult, search: CapacitySearch?) {
        let stop = try StopSignal()
        try await stop.watch(exitCodeOfSecond: .temporaryFailure)
        let watcher = Task {
            await stop.wait()
            run.stop()
        }
        defer { watcher.cancel() }
        try await run.awaitWorker()
        guard let capacity = options.capacity else { return (try await run.measure(options.curve), nil) }
        return try await search(run, options, capacity)
    }

    private func search(
        _ run: LoadRun, _ options: LoadOptions, _ capacity: LoadOptions.Capacity
    ) async throws -> (result: LoadResult, search: CapacitySearch?) {
        var search = CapacitySearch(
            firstPerSecond: capacity.firstPerSecond, maximumPerSecond: capacity.maximumPerSecond,
            limit: capacity.limit, precision: capacity.precision)
        var best: LoadResult?
        var last: LoadResult?
        while let rate = search.nextPerSecond, !run.hasStopped {
            try await run.awaitEmptyQueues()
            let curve = RateCurve(.steady, perSecond: rate, seconds: capacity.stepSeconds)
            let result = try await run.measure(curve) { capacity.goal.isHopeless($0) }
            last = result
            if run.hasStopped { break }
            let verdict = capacity.goal.verdict(on: result)
            let latency = result.pushLatency.percentile(capacity.limit.share)
            search.measured(verdict, microseconds: latency)
            if case .failed(let reason) = verdict {
                StandardError.line("\(LoadText.rate(rate)) failed: \(reason)")
            } else {
                StandardError.line("\(LoadText.rate(rate)) held, \(capacity.limit.name) \(DurationText.of(latency))")
                best = result
            }
        }
        guard let result = best ?? last else { throw CommandFailure(.unavailable, "ended before the first step") }
        return (result, search)
    }

    // MARK: Reporting

    private func report(
        _ result: LoadResult, _ search: CapacitySearch?, _ invocation: CommandInvocation
    ) throws(CommandFailure) -> ExitCode {
        if let path = invocation.string(LoadFlags.html) {
            try SimulateFiles.write(LoadPage.html(of: result, search), to: path, mode: 0o644)
            StandardError.line("wrote \(path)")
        }
        invocation.show(
            json: LoadJSON.object(of: result, search),
            lines: (search.map(LoadText.lines(of:)) ?? []) + LoadText.lines(of: result))
        if let search { return search.bestPerSecond == nil ? .temporaryFailure : .ok }
        return result.isComplete ? .ok : .temporaryFailure
    }
}
