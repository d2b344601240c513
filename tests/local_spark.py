"""A Spark on this machine, with two workers, for the tests that need one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from contextlib import contextmanager

import pytest

for needed in ("pyspark", "pyarrow", "pandas"):
    pytest.importorskip(
        needed, reason=f"{needed} is not installed: pip install '.[spark]'"
    )


def java_version() -> int:
    """Return the major version of Java, 0 if there is none."""
    home = os.environ.get("JAVA_HOME")
    program = os.path.join(home, "bin", "java") if home else "java"
    try:
        done = subprocess.run(
            [program, "-version"], capture_output=True, text=True, check=False
        )
    except OSError:
        return 0
    found = re.search(r'version "(\d+)', done.stderr + done.stdout)
    return int(found.group(1)) if found else 0


SPARK_MARKS = [
    pytest.mark.slow,
    pytest.mark.skipif(
        java_version() < 17,
        reason="Spark needs Java 17 or newer (apt install openjdk-17-jre-headless)",
    ),
    pytest.mark.skipif(sys.platform == "win32", reason="Spark needs winutils there"),
    # Of pyspark itself: about its own pandas, and sockets it leaves to the collector.
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@contextmanager
def local_spark():
    """Start Spark in this process; it ends with the block."""
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.log.level": "ERROR",
        "spark.sql.shuffle.partitions": "2",
        # Jobs are short: most of the time would go into compiling what runs once.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.adaptive.enabled": "false",
    }
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pyspark's own
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        builder = SparkSession.builder.master("local[2, 3]")  # two workers, three tries
        for name, value in settings.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        yield session
        session.stop()
