"""Secrets of databases and queues, and their connection strings."""

ROWS: tuple[tuple[str, str, str], ...] = (
    ("mongodb key", "mdb_sa_sk_<30+ word>", "mdb_sa_sk_<8 word>"),
    ("aiven password", "AVNS_<16+ word>", "AVNS_<6 word>"),
    ("confluent key", "cflt<50+ base64>", "cflt<8 base64>"),
    ("cockroach key", "CCDB1_<22 alnum>_<40 alnum>", "CCDB1_<4 alnum>"),
    ("datastax token", "AstraCS:(<20+ alnum>:<60+ hex>)", "AstraCS:(<4 alnum>)"),
    ("fauna key", "fn{AE|AD|AF}<34+ word>", "fnAE<12 word>"),
    ("xata key", "xau_<20+ alnum>", "xau_<8 alnum>"),
    ("convex key", "{prod|dev|preview}:<4-60 word>|(<40+ word>)", "prod:<4 word>|(<8 word>)"),
    ("dbt token", "dbt{u|s|c|x}_<30+ word>", "dbtu_<8 word>"),
    ("census key", "secret-token:<20+ alnum>", "secret-token:<6 alnum>"),
    ("nats seed", "S{A|C|N|O|U|X}<56 upper>", "SU<12 upper>"),
    ("wepay token", "{PRODUCTION|STAGE}_<64 hex>", "PRODUCTION_<8 hex>"),
)  # fmt: skip
