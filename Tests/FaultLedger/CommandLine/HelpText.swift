/// What `--help` says.
enum HelpText {
    static let text = """
        usage: deploy/bin/fault [--scenario NAME...] [--seed N] [--seconds N] [--short] [--list] [--json] [--keep]

        Proves that nothing is lost: for each scenario it starts a private RabbitMQ, the APNs
        simulator, a registry and workers, publishes a steady load with confirms, brings about a
        fault in the middle of it, waits until all is settled, and compares what the broker
        confirmed with what the simulator accepted.

          --scenario NAME  play only these; also worker, broker, network, registry, apns
                           or calls; soak runs only when it is named
          --seed N         replay a run: the same load, the same moments, the same victims
          --seconds N      how long the load lasts; by default what each scenario says
          --short          a few quick scenarios
          --list           print the names and what each does
          --json           a line of JSON for each scenario instead of the table
          --no-build       use what deploy/bin/fault built last
          --keep           keep configuration, record and logs of valid scenarios as well

        The columns count events that were attempted, confirmed by the broker, and of the confirmed
        ones those that were delivered, parked (left in a queue), dead letters, destroyed (by a
        scenario that deletes the queue they were in) or lost; then pushes that nobody asked for
        (unexpected) and that came again (duplicated), with the bound that the fault explains; and
        the seconds from the end of the fault until its backlog was pushed.

        A scenario is valid if nothing was lost, nothing was unexpected, duplicates are within
        their bound, and no process ended that should not have. The exit status is 0 only if all
        are valid. A failing one prints its seed and the command that replays it, and keeps its
        folder: apus.toml, record.ndjson and the workers' logs.
        """
}
