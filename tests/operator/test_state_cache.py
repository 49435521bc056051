"""Fault 17: PyFlink's state cache is sized by the number of states the operator has."""

from eml.flink.model_store import STATES
from eml.flink.operator import EvolvingOperator
from eml.settings import RegistrySettings, Settings
from eml.stream.output.encoder import OutputIds
from tests.operator.fakes import FakeRuntime


def test_fault_17_every_state_of_a_key_is_counted():
    runtime = FakeRuntime()
    operator = EvolvingOperator(Settings(registry=RegistrySettings(url="http://127.0.0.1:9")), OutputIds(1, 2, 3))
    operator.open(runtime)
    operator.close()
    assert set(runtime.states) == set(STATES)
