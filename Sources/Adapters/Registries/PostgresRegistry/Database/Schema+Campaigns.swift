extension Schema {
    /// The migration 4: what became of the pushes of campaigns.
    ///
    /// - Numbers of campaigns are their order: who adds one holds `SQLStatement.lockCampaigns`.
    /// - `campaign_push` remembers which endings of a push were counted (`CampaignEndings`), so that none counts twice,
    ///   and reports of opens beyond the registration of their devices (`CampaignOpen.digests`).
    /// - An open names a device by its row, and goes with it. Its hour and platform tell which count to correct when a
    ///   person is erased.
    static let campaigns = """
        CREATE TABLE campaign (
            number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            app text COLLATE "C" NOT NULL,
            name text COLLATE "C" NOT NULL,
            first_hour bigint NOT NULL,
            last_hour bigint NOT NULL,
            UNIQUE (app, name)
        );
        CREATE INDEX campaign_by_app ON campaign (app, number);
        CREATE INDEX campaign_by_hour ON campaign (last_hour);
        CREATE TABLE campaign_count (
            campaign bigint NOT NULL REFERENCES campaign,
            hour bigint NOT NULL,
            platform smallint NOT NULL,
            matched bigint NOT NULL,
            accepted bigint NOT NULL,
            token_dead bigint NOT NULL,
            expired bigint NOT NULL,
            coalesced bigint NOT NULL,
            dead_lettered bigint NOT NULL,
            opened bigint NOT NULL,
            PRIMARY KEY (campaign, hour, platform)
        ) WITH (fillfactor = 50);
        CREATE INDEX campaign_count_by_hour ON campaign_count (hour);
        CREATE TABLE campaign_push (
            digest bigint PRIMARY KEY,
            seen smallint NOT NULL,
            hour bigint NOT NULL
        );
        CREATE INDEX campaign_push_by_hour ON campaign_push (hour);
        CREATE TABLE campaign_open (
            device bigint NOT NULL REFERENCES device ON DELETE CASCADE,
            event bytea NOT NULL CHECK (octet_length(event) = 16),
            campaign bigint NOT NULL,
            hour bigint NOT NULL,
            platform smallint NOT NULL,
            PRIMARY KEY (device, event)
        );
        CREATE INDEX campaign_open_by_hour ON campaign_open (hour);
        """

    /// Undoes the migration 4; the counts go.
    static let campaignsUndone =
        "DROP TABLE campaign_open; DROP TABLE campaign_push; DROP TABLE campaign_count; DROP TABLE campaign;"
}
