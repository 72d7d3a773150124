extension Schema {
    /// The migration 4: what became of the pushes of campaigns.
    ///
    /// - Numbers of campaigns are never used again (`AUTOINCREMENT`): they are the order of the campaigns.
    /// - `campaign_push` remembers which endings of a push were counted (`CampaignEndings`), so that none counts twice,
    ///   and reports of opens beyond the registration of their devices (`CampaignOpen.digests`).
    /// - An open names a device by its row, and goes with it: rows of devices are used again. Its hour and platform
    ///   tell which count to correct when a person is erased.
    static let campaigns = """
        CREATE TABLE campaign (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            app TEXT NOT NULL,
            name TEXT NOT NULL,
            first_hour INTEGER NOT NULL,
            last_hour INTEGER NOT NULL,
            UNIQUE (app, name)
        );
        CREATE INDEX campaign_by_app ON campaign (app, number);
        CREATE INDEX campaign_by_hour ON campaign (last_hour);
        CREATE TABLE campaign_count (
            campaign INTEGER NOT NULL REFERENCES campaign,
            hour INTEGER NOT NULL,
            platform INTEGER NOT NULL,
            matched INTEGER NOT NULL,
            accepted INTEGER NOT NULL,
            token_dead INTEGER NOT NULL,
            expired INTEGER NOT NULL,
            coalesced INTEGER NOT NULL,
            dead_lettered INTEGER NOT NULL,
            opened INTEGER NOT NULL,
            PRIMARY KEY (campaign, hour, platform)
        ) WITHOUT ROWID;
        CREATE INDEX campaign_count_by_hour ON campaign_count (hour);
        CREATE TABLE campaign_push (
            digest INTEGER PRIMARY KEY,
            seen INTEGER NOT NULL,
            hour INTEGER NOT NULL
        );
        CREATE INDEX campaign_push_by_hour ON campaign_push (hour);
        CREATE TABLE campaign_open (
            device INTEGER NOT NULL REFERENCES device ON DELETE CASCADE,
            event BLOB NOT NULL CHECK (length(event) = 16),
            campaign INTEGER NOT NULL,
            hour INTEGER NOT NULL,
            platform INTEGER NOT NULL,
            PRIMARY KEY (device, event)
        ) WITHOUT ROWID;
        CREATE INDEX campaign_open_by_hour ON campaign_open (hour);
        """

    /// Undoes the migration 4; the counts go.
    static let campaignsUndone =
        "DROP TABLE campaign_open; DROP TABLE campaign_push; DROP TABLE campaign_count; DROP TABLE campaign;"
}
