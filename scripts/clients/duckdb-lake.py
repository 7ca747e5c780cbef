"""Reads a folder of exported Parquet files with DuckDB and prints what it found as JSON. Usage: duckdb-lake.py FOLDER"""

import json
import sys

import duckdb

lake = f"read_parquet('{sys.argv[1]}/**/*.parquet', hive_partitioning = true, union_by_name = true)"
connection = duckdb.connect()
connection.execute("SET TimeZone = 'UTC'")


def rows(query):
    return [list(row) for row in connection.execute(query).fetchall()]


print(
    json.dumps(
        {
            "version": duckdb.__version__,
            "types": dict(rows(f"SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM {lake})")),
            "services": rows(
                f"SELECT service, CAST(day AS VARCHAR), count(*), sum(field_took) FROM {lake} GROUP BY ALL ORDER BY ALL"
            ),
            "first": rows(
                f"SELECT timestamp_ns, level, line, labels['app'], metadata['trace'], tenant FROM {lake} ORDER BY timestamp_ns LIMIT 1"
            )[0],
            "times": rows(f"SELECT count(*) FROM {lake} WHERE epoch_us(timestamp) <> timestamp_ns // 1000")[0][0],
            "of_a_day": rows(f"SELECT count(*) FROM {lake} WHERE day = DATE '2026-01-06'")[0][0],
        }
    )
)
