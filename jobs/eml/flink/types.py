"""Types of Flink's that several modules name: of state, and of columns."""

from pyflink.common import Types

BYTES = Types.PRIMITIVE_ARRAY(Types.BYTE())
