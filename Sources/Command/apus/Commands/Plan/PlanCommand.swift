import CapacityModel

/// `apus plan`.
struct PlanCommand: Command {
    let name = "plan"
    let summary = "Say what a load needs: workers, connections, queues, disk, memory"
    let help = CommandHelp(
        discussion: """
            Computes from a load how many workers, cores, connections to push services and
            queues it needs, how large the registry and the broker's disk are, and what is the
            limit.
            Each figure is shown with the rule that it follows from. Nothing is connected to.

            The rules come from measured curves. Their times are those of one machine, which
            the output names. To plan for yours, measure the processor time of a push in a
            large audience with 'make bench', and give it with --cpu-per-push-us. What an event
            costs beside its pushes is then scaled by the same factor.

            Plan for the highest rate that has to be carried without a growing delay, not for
            the average of a day.
            """,
        examples: [
            .init(
                "apus plan --devices 1000000 --events-per-second 5000 --registry sqlite",
                "A million devices, an event for one device each, one machine."),
            .init(
                "apus plan --devices 1e9 --events-per-second 1e6 --rtt 80 --outage 600",
                "A thousand million devices, ten minutes without workers."),
            .init(
                "apus plan --devices 2e6 --events-per-second 10 --audience 100000 --json",
                "Few events to many devices, for a program."),
        ]
    )
    let options = PlanOptions.all

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let load = try PlanOptions.load(invocation)
        let coefficients = try PlanOptions.coefficients(invocation)
        let plan = CapacityPlan(for: load, coefficients: coefficients)
        let isOwn = coefficients != CapacityCoefficients()
        invocation.show(
            json: PlanReport.report(plan, isOwn: isOwn).json, lines: PlanReport.lines(plan, isOwn: isOwn))
        return .ok
    }
}
