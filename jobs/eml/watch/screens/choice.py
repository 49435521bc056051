"""Which screen an address shows.

Called by the page and by the saved file.
"""

from dash.development.base_component import Component

from eml.watch import addresses
from eml.watch.addresses import Address
from eml.watch.screens import dead_letters, devices, evolutions, features, fleet
from eml.watch.screens.missing import missing
from eml.watch.views import Fleet

SCREENS = {
    addresses.FLEET: fleet.show,
    addresses.DEVICES: devices.show,
    addresses.DEVICE: devices.opened,
    addresses.EVOLUTIONS: evolutions.show,
    addresses.FEATURES: features.show,
    addresses.DEAD_LETTERS: dead_letters.show,
}


def screen(seen: Fleet, address: Address) -> Component:
    """The tree of components for an address."""
    show = SCREENS.get(address.place)
    if show is None:
        return missing("Not found", "There is no such page.", addresses.FLEET)
    return show(seen, address)
