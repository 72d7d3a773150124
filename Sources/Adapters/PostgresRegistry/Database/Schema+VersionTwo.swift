extension Schema {
    /// The second schema: large fan-outs, and since when each device is in an audience.
    ///
    /// `joined` is the number of the newest fan-out at the moment when a device came to its identity, user and app, or
    /// to its dataset or topic; a fan-out serves those whose `joined` is smaller than its own number. The numbers are
    /// those of a sequence, which all transactions see at once and which never goes back; a default that reads it costs
    /// nothing that could be measured. A chunk is a row from when it is planned until its fan-out is done.
    static let versionTwo = """
        SET LOCAL search_path = \(name);
        CREATE TABLE fan_out (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            event bytea NOT NULL UNIQUE,
            event_source text COLLATE "C" NOT NULL,
            event_id text COLLATE "C" NOT NULL,
            event_type text COLLATE "C" NOT NULL,
            app text COLLATE "C",
            state text COLLATE "C" NOT NULL,
            newest_subscription bigint NOT NULL,
            position bigint,
            position_subscription bigint,
            is_whole boolean NOT NULL DEFAULT false,
            chunks_planned bigint NOT NULL DEFAULT 0,
            chunks_published bigint NOT NULL DEFAULT 0,
            chunks_served bigint NOT NULL DEFAULT 0,
            chunks_cancelled bigint NOT NULL DEFAULT 0,
            devices_planned bigint NOT NULL DEFAULT 0,
            planner bigint NOT NULL,
            planner_until bigint NOT NULL,
            begun_at bigint NOT NULL,
            changed_at bigint NOT NULL
        );
        CREATE INDEX fan_out_by_change ON fan_out (changed_at);
        GRANT SELECT ON SEQUENCE fan_out_id_seq TO PUBLIC;
        CREATE TABLE fan_out_chunk (
            fan_out bigint NOT NULL REFERENCES fan_out ON DELETE CASCADE,
            number bigint NOT NULL,
            after_position bigint,
            after_subscription bigint,
            through_position bigint,
            through_subscription bigint,
            subscriptions bytea NOT NULL,
            devices bigint NOT NULL,
            is_ended boolean NOT NULL DEFAULT false,
            PRIMARY KEY (fan_out, number)
        );

        \(joined("device"))
        \(joined("dataset_subscription"))
        \(joined("topic_subscription"))
        CREATE FUNCTION join_again() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            NEW.joined := \(newestFanOut);
            RETURN NEW;
        END $$;
        CREATE TRIGGER device_joined BEFORE UPDATE OF app, identity_pool, identity, user_id ON device FOR EACH ROW
            WHEN (OLD.app <> NEW.app OR OLD.identity_pool IS DISTINCT FROM NEW.identity_pool
                OR OLD.identity IS DISTINCT FROM NEW.identity OR OLD.user_id IS DISTINCT FROM NEW.user_id)
            EXECUTE FUNCTION join_again();
        """

    private static let newestFanOut = "coalesce(pg_sequence_last_value('\(name).fan_out_id_seq'::regclass), 0)"

    /// Adds the column to a table: 0 for the rows that are there, which costs nothing, and the newest number later.
    private static func joined(_ table: String) -> String {
        """
        ALTER TABLE \(table) ADD COLUMN joined bigint NOT NULL DEFAULT 0;
        ALTER TABLE \(table) ALTER COLUMN joined SET DEFAULT \(newestFanOut);
        """
    }
}
