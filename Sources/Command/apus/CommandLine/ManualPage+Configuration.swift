import Essentials
import WorkerConfiguration

extension ManualPage {
    /// The page `apus.toml(5)`, with every key of the configuration.
    static func configuration(date: WallTime) -> ManualPage {
        var writer = ManualWriter(name: "apus.toml", section: 5, summary: "the configuration of Apus", date: date)
        writer.section(
            "DESCRIPTION",
            prose: """
                The configuration is one TOML file: --config FILE, else $APUS_CONFIG, else apus.toml in
                the current folder. 'apus init' writes a sample, 'apus check' finds mistakes, and
                'apus check --values' shows the values in force.

                A value is taken from the first of: --set KEY=VALUE, for example
                --set rabbitmq.prefetch=500; the environment, for example APUS_RABBITMQ_PREFETCH=500; the
                file; the default. In the environment and in --set apps are counted from 0:
                APUS_APP_0_APNS_KEY_ID is app.0.apns.key_id. Relative paths begin at the folder of the
                file.
                """)
        for table in ConfigurationDocument.tables {
            writer.section(table.heading, prose: table.summary)
            writer.list(table.keys.map { ("Cm \($0.name)", "\($0.text) (\($0.standard))") })
        }
        writer.seeAlso(["apus-check", "apus-init"], hasConfiguration: false)
        return ManualPage(fileName: "apus.toml.5", text: writer.text)
    }
}
