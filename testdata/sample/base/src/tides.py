"""High water from the two largest tidal constituents of a station."""

import math
import sys

# Amplitude in metres and phase in degrees of M2 and S2, by station.
STATIONS = {
    "brest": ((2.05, 109.0), (0.75, 149.0)),
    "cuxhaven": ((1.37, 339.0), (0.35, 47.0)),
    "lerwick": ((0.58, 312.0), (0.21, 347.0)),
}
SPEED = (28.9841042, 30.0)  # degrees an hour


def height(station, hours):
    """Height above mean sea level in metres, `hours` after the epoch."""
    return sum(
        amplitude * math.cos(math.radians(speed * hours - phase))
        for (amplitude, phase), speed in zip(STATIONS[station], SPEED)
    )


if __name__ == "__main__":
    print(f"{height(sys.argv[1], 0):.2f} m")
